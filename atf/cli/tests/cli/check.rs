//! Tests `atf check`. Its reports are covered by the tests of the conformance suite, which has the
//! same command.

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

#[test]
fn a_trace_named_twice_is_checked_once() {
    let small = "sample-small/session_20260105_101500/pid_4242";
    let again = format!("sample-small/../{small}");
    let check = |paths: &[&str]| {
        let output = atf(&atf_samples::folder(), &[&["check"], paths].concat());
        let (status, text, messages) = texts(&output);
        (status, text.to_owned(), messages.to_owned())
    };
    let (status, text, messages) = check(&[small, &again]);
    assert_eq!(
        messages,
        format!("{again}: checked only once, as {small}\n")
    );
    assert_eq!((status, text), (0, check(&[small]).1));
}
