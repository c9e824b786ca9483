//! Tests the comparison of two runs.

use std::fs;

use assert_cmd::Command;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Makes a report whose cases have these outcomes.
fn report(corpus: &str, cases: &[(&str, &str)]) -> Value {
    let case = |(name, outcome): &(&str, &str)| {
        let message = (*outcome == "failed").then_some("accept, expected reject");
        json!({"testee": 0, "role": "read", "case": name, "outcome": outcome, "message": message.unwrap_or_default()})
    };
    json!({
        "format": 2,
        "editions": {"kit": "0.1.0", "spec": "1.3.0", "rules": "2.3.0", "corpus": corpus},
        "testees": [{"name": "mine"}],
        "cases": cases.iter().map(case).collect::<Vec<_>>(),
    })
}

/// Compares two reports. Returns the exit code, the output and the message.
fn compared(old: &Value, new: &Value) -> (Option<i32>, String, String) {
    let folder = TempDir::new().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_atf-conformance"));
    command.current_dir(folder.path()).arg("compare");
    for (name, report) in [("old.json", old), ("new.json", new)] {
        fs::write(folder.path().join(name), report.to_string()).unwrap();
        command.arg(name);
    }
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn mended_broken_and_new_failures_are_listed() {
    let old = [
        ("a", "failed"),
        ("b", "passed"),
        ("c", "failed"),
        ("d", "skipped"),
        ("gone", "passed"),
    ];
    let new = [
        ("a", "passed"),
        ("b", "failed"),
        ("c", "failed"),
        ("d", "failed"),
        ("e", "passed"),
    ];
    let (code, out, _) = compared(&report("2.3.0", &old), &report("3.0.0", &new));
    let lines: Vec<_> = out.lines().collect();
    assert_eq!(
        lines,
        [
            "corpus 2.3.0 -> 3.0.0",
            "other answers are right: CHANGELOG.md lists them, and `run --update` removes the \
             cases that now pass from a failure list",
            "mended  mine read a: accept, expected reject",
            "broken  mine read b: accept, expected reject",
            "new     mine read d: accept, expected reject",
            "1 mended, 1 broken, 1 still failing, 1 new case fails, 1 case was not run again",
        ]
    );
    assert_eq!(code, Some(1));
}

#[test]
fn only_a_broken_case_fails_the_comparison() {
    let fails = report("2.3.0", &[("a", "failed")]);
    let passes = report("2.3.0", &[("a", "passed")]);
    let code = |old, new| compared(old, new).0;
    assert_eq!(code(&fails, &passes), Some(0));
    assert_eq!(code(&fails, &fails), Some(0));
    assert_eq!(code(&passes, &fails), Some(1));
}

#[test]
fn a_file_that_is_not_a_report_is_named() {
    let good = report("2.3.0", &[]);
    let mut other = good.clone();
    other["format"] = 1.into();
    let mut no_testee = report("2.3.0", &[("a", "failed")]);
    no_testee["testees"] = json!([]);
    for (new, message) in [
        (json!([]), "new.json: not the JSON report of a run"),
        (
            other,
            "new.json: reports of version 1 cannot be compared, only 2",
        ),
        (no_testee, "new.json: cases[0].testee: 0, of 0 testees"),
    ] {
        let (code, _, error) = compared(&good, &new);
        assert!(error.contains(message), "{error}");
        assert_eq!(code, Some(2));
    }
}
