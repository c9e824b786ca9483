//! Tests annotations for CI services.

use std::path::PathBuf;

use atf_conformance::report::annotate::github;
use atf_conformance::results::{Note, Results};
use atf_conformance::rules::Severity;

use crate::demo::{demo, hostile};

fn lines(results: &Results) -> Vec<String> {
    let manifests = ["c/TESTEE.toml", "py,2/100%:TESTEE.toml", "v/TESTEE.toml"].map(PathBuf::from);
    let mut out = Vec::new();
    github(results, &manifests, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn each_cause_and_problem_has_an_annotation_at_its_manifest() {
    let mut results = demo();
    let mut cases = results.cases.iter_mut();
    let unstable = cases.find(|case| case.testee == 1).unwrap();
    unstable.notes.push(Note {
        severity: Severity::Advice,
        rule: None,
        text: "differs from run to run: 1 of 2".to_owned(),
    });
    let lines = lines(&results);
    let begins = |beginning: &str| {
        let mut found = lines.iter().filter(|line| line.starts_with(beginning));
        found
            .next()
            .unwrap_or_else(|| panic!("{beginning}: {lines:#?}"))
    };
    let why = "title=no-such-program is not graded::./v: No such file or directory (os error 2)";
    begins(&format!("::error file=v/TESTEE.toml,{why}"));
    let stale = "c/nothing-*: matches no case";
    let found = begins("::error title=The failure list is stale::ada-c/failures.txt:3: ");
    assert!(found.len() > stale.len());
    let cause =
        begins("::error file=c/TESTEE.toml,title=1 failed%3A checksum mismatch not noticed::");
    let failure = "ada-c read v1/iftr-004-off: wrong-accept: accept, expected reject%0A";
    assert!(cause.contains(failure), "{cause}");
    let unstable =
        "::warning file=py%2C2/100%25%3ATESTEE.toml,title=ada-py read v1/ihdr-001-good::";
    assert!(begins(unstable).ends_with("::differs from run to run: 1 of 2"));
    begins("::error file=py%2C2/100%25%3ATESTEE.toml,title=1 script of ada-c misread by ada-py::");
}

#[test]
fn text_from_a_program_cannot_begin_a_command() {
    let lines = lines(&hostile());
    assert!(!lines.is_empty());
    for line in &lines {
        let is_command = line.starts_with("::error ") || line.starts_with("::warning ");
        assert!(is_command, "{line}");
        let (properties, _) = line[2..].split_once("::").unwrap();
        assert!(!properties.contains(':'), "{line}");
        assert!(!line.contains(['\r', '\u{1b}']), "{line:?}");
    }
}
