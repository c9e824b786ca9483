//! `atf check`. The reports are tested with the kit, which has the same command.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::{atf, texts};

#[test]
fn the_exit_status_says_whether_a_denied_rule_is_broken() {
    let session = "sample-crashed";
    for (deny, status) in [("must", 0), ("should", 1)] {
        let output = atf(&atf_samples::folder(), &["check", "--deny", deny, session]);
        let (found, text, messages) = texts(&output);
        assert_eq!((found, messages), (status, ""));
        assert!(text.contains("ATF-IFTR-001"), "{text}");
        assert!(
            text.contains("6 files: 4 accept, 2 recover, 0 reject"),
            "{text}"
        );
    }
}

#[test]
fn a_must_is_broken_by_a_file_whose_header_is_damaged() {
    let folder = TempDir::new().unwrap();
    fs::write(
        folder.path().join("index.atf"),
        [b"ATI2", &[9; 60][..]].concat(),
    )
    .unwrap();
    let output = atf(folder.path(), &["check", "--json", "index.atf"]);
    let (status, text, messages) = texts(&output);
    assert_eq!((status, messages), (1, ""));
    let report: Value = serde_json::from_str(text).unwrap();
    assert_eq!(report["files"][0]["verdict"], "reject", "{text}");
}

#[test]
fn a_path_without_a_trace_is_a_usage_error() {
    let folder = TempDir::new().unwrap();
    let output = atf(folder.path(), &["check", "."]);
    assert_eq!(output.status.code(), Some(2));
}
