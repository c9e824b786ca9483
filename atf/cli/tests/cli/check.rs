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
fn allowed_rules_are_ignored_and_told_with_their_reasons() {
    let folder = TempDir::new().unwrap();
    let list = folder.path().join("allowed.txt");
    let path = list.to_str().unwrap();
    let check = |text: &str, deny: &str| {
        fs::write(&list, text).unwrap();
        let arguments = ["check", "--deny", deny, "--allow", path, "sample-crashed"];
        let output = atf(&atf_samples::folder(), &arguments);
        let (status, text, messages) = texts(&output);
        (status, text.to_owned(), messages.to_owned())
    };
    let (status, text, messages) = check(
        "# ours\n\nATF-IFTR-001  the tracer is killed\nATF-DFTR-001\tthis, too\r\n\
         ATF-LINK-002 lost\nATF-MANI-011 a key\n",
        "should",
    );
    assert_eq!(
        messages,
        format!(
            "{path}:4: ATF-DFTR-001 is allowed in 1 file: this, too\n\
             {path}:3: ATF-IFTR-001 is allowed in 1 file: the tracer is killed\n\
             {path}:5: ATF-LINK-002 is allowed in 1 file: lost\n\
             {path}:6: ATF-MANI-011 is not broken; remove this line\n"
        )
    );
    assert!(!text.contains("ATF-IFTR-001"), "{text}");
    // Without the list, 2 files are to be recovered, and 10 SHOULDs and 2 advices are broken.
    let rest = "6 files: 5 accept, 1 recover, 0 reject; 1810 events, 138 details\n\
                rules broken: 0 must, 8 should; 1 advice\n";
    assert!(text.ends_with(rest), "{text}");
    assert_eq!(status, 1, "other rules still count");
    let all = [
        "IFTR-001", "IFTR-006", "IHDR-011", "DFTR-001", "DFTR-006", "MANI-007", "MANI-008",
    ];
    let all: String = all.map(|id| format!("ATF-{id} ours\n")).concat();
    assert_eq!(check(&all, "should").0, 0);
    for (text, message) in [
        ("ATF-IFTR-001\n", ":1: ATF-IFTR-001 has no reason"),
        ("\nATF-NONE-001 why\n", ":2: there is no rule ATF-NONE-001"),
        (
            "ATF-IFTR-001 a\nATF-IFTR-001 b\n",
            ":2: ATF-IFTR-001 is already in line 1",
        ),
    ] {
        let (status, _, messages) = check(text, "must");
        assert_eq!((status, messages), (2, format!("atf: {path}{message}\n")));
    }
    let output = atf(
        &atf_samples::folder(),
        &["check", "--allow", "ATF-IFTR-001", "."],
    );
    let (status, _, messages) = texts(&output);
    assert_eq!(status, 2);
    assert!(messages.contains("--allow takes a file"), "{messages}");
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
