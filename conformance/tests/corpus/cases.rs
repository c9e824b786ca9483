//! Tests each case on its own: its name, its verdict, and what a check finds.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use atf::FileKind;
use atf_conformance::check::check_bytes;
use atf_conformance::corpus::document::readable;
use atf_conformance::corpus::shape::Shape;
use atf_conformance::corpus::{Case, Class, EFFECTS, FLAGS, Subject, effect};
use atf_conformance::{Checked, FileReport, Verdict, rules};
use tempfile::TempDir;

use crate::{ALL, CASES};

/// Checks a case's subject. The paths in the reports are relative to the case.
pub(crate) fn found(case: &Case) -> Checked {
    let folder = TempDir::new().unwrap();
    case.write(folder.path()).unwrap();
    let mut found = Checked::new(&folder.path().join(&case.path));
    for report in &mut found.reports {
        let path = report.path.strip_prefix(folder.path()).unwrap();
        report.path = path.to_path_buf();
    }
    found
}

/// Returns the broken rules, by file.
pub(crate) fn broken(found: &Checked) -> BTreeSet<(String, &'static str)> {
    let name = |report: &FileReport| report.path.to_str().unwrap().to_owned();
    let broken = found
        .findings()
        .map(|(report, it)| (name(report), it.rule.id));
    broken.collect()
}

#[test]
fn a_check_finds_exactly_the_broken_rules_and_the_verdict_of_each_case() {
    let mut faults = String::new();
    for (seq, case) in ALL.iter().enumerate() {
        let found = found(case);
        let broken = broken(&found);
        let expected: BTreeSet<_> = case.broken.iter().cloned().collect();
        if broken != expected || !found.unreadable.is_empty() {
            faults += &format!(
                "\n{}:\n  found {broken:?} {:?}\n  expected {expected:?}",
                case.name, found.unreadable
            );
        }
        // The large cases come last.
        if case.subject == Subject::Session || seq >= CASES.len() {
            continue;
        }
        let [report] = found.reports.as_slice() else {
            panic!("{}: {} reports", case.name, found.reports.len());
        };
        assert!(case.verdicts.contains(&report.verdict()), "{}", case.name);
        // An empty file has no events, whichever verdict it gets.
        if report.verdict() == Verdict::Reject || case.expected["derived"].is_null() {
            continue;
        }
        let count = report.events.or(report.details).unwrap().to_string();
        let expected = &case.expected["derived"]["event_count"];
        assert_eq!(*expected, count, "{}", case.name);
    }
    assert!(faults.is_empty(), "{faults}");
}

#[test]
fn bytes_are_checked_like_their_file() {
    let folder = TempDir::new().unwrap();
    let mut compared = 0;
    for case in CASES.iter() {
        let (kind, name) = match case.subject {
            Subject::Index => (FileKind::Index, "index.atf"),
            Subject::Detail => (FileKind::Detail, "detail.atf"),
            Subject::Session => continue,
        };
        // Write the file under its usual name, which shows its kind even if the magic is wrong.
        let path = folder.path().join(name);
        let bytes = &case.files[&case.path];
        fs::write(&path, bytes).unwrap();
        let of_file = Checked::new(&path);
        let mut of_bytes = Checked::default();
        check_bytes(&path, kind, bytes.clone(), &mut of_bytes);
        let [of_bytes, of_file] = [of_bytes, of_file].map(|it| format!("{it:#?}"));
        assert_eq!(of_bytes, of_file, "{}", case.name);
        compared += 1;
    }
    assert!(compared > 300, "{compared}");
}

#[test]
fn a_case_that_breaks_only_recoverable_rules_is_never_rejected() {
    for case in CASES.iter() {
        let rules = case.broken.iter().map(|(_, id)| rules::find(id).unwrap());
        let is_readable = { rules }.all(|rule| rule.reader <= rules::ReaderDoes::Recover);
        // Rejecting a file without events loses none.
        let has_events = case.expected["events"]
            .as_array()
            .is_some_and(|it| !it.is_empty());
        if is_readable && has_events {
            assert!(!case.verdicts.contains(&Verdict::Reject), "{}", case.name);
        }
    }
}

#[test]
fn names_are_unique_and_usable_as_paths() {
    let mut names = BTreeSet::new();
    for case in CASES.iter() {
        let slug = case.name.split_once('/').unwrap().1;
        let is_plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
        assert!(slug.bytes().all(is_plain), "{slug}");
        assert!(slug.len() <= 80, "{slug}");
        assert!(case.name.starts_with(&format!("v{}/", case.wire)));
        assert!(names.insert(case.name.clone()), "{} twice", case.name);
    }
}

#[test]
fn no_two_cases_have_the_same_bytes() {
    let mut seen = BTreeMap::new();
    let mut twice = Vec::new();
    for case in CASES.iter() {
        let links = (&case.folders, &case.symlinks);
        let subject = (case.wire, &case.path, &case.files, links);
        if let Some(other) = seen.insert(subject, &case.name) {
            twice.push((other, &case.name));
        }
    }
    assert!(twice.is_empty(), "{twice:#?}");
}

#[test]
fn each_case_names_rules_of_its_wire_version_and_has_a_note() {
    for case in CASES.iter() {
        assert!(!case.note.is_empty(), "{}", case.name);
        assert!(!case.rules.is_empty(), "{}", case.name);
        for id in &case.rules {
            let rule = rules::find(id).unwrap_or_else(|| panic!("{}: {id}", case.name));
            assert!(rule.wires.contains(&case.wire), "{}: {id}", case.name);
        }
        for (_, id) in &case.broken {
            assert!(rules::find(id).is_some(), "{}: {id}", case.name);
        }
        // The mildest verdict comes first.
        assert!(case.verdicts.is_sorted(), "{}", case.name);
        assert_eq!(case.expected["verdict"], case.verdicts[0].name());
        let is_must = |id: &str| rules::find(id).unwrap().severity == rules::Severity::Must;
        let breaks_must = case.broken.iter().any(|(_, rule)| is_must(rule));
        assert!(
            !(breaks_must && case.class == Class::Valid),
            "{}",
            case.name
        );
        assert!(!case.dump().is_empty() || case.files.values().all(Vec::is_empty));
    }
}

#[test]
fn each_flag_is_known_and_used_in_each_wire_version() {
    let known: BTreeSet<_> = FLAGS.iter().map(|flag| flag.name).collect();
    assert_eq!(known.len(), FLAGS.len(), "a flag twice");
    for wire in [1, 2] {
        let cases = CASES.iter().filter(|case| case.wire == wire);
        let used: BTreeSet<_> = cases.flat_map(|case| case.flags.clone()).collect();
        assert_eq!(used, known, "version {wire}");
    }
}

#[test]
fn each_rule_has_an_effect_and_each_effect_has_a_rule() {
    let by_files = |rule: &&&rules::Rule| rule.untestable.is_none() && rule.binds_writers();
    let testable = rules::ALL.iter().filter(by_files);
    let rules: Vec<_> = testable.map(|rule| rule.id).collect();
    let missing: Vec<_> = rules.iter().filter(|id| effect(id).is_empty()).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert_eq!(EFFECTS.lines().count(), rules.len());
}

/// Checks the tables used to build all other documents against the hand-typed documents.
#[test]
fn the_tables_produce_the_typed_documents() {
    for wire in [1, 2] {
        for (name, is_detail, size) in [("vector-index", false, 32), ("vector-detail", true, 27)] {
            let name = format!("v{wire}/{name}");
            let case = CASES.iter().find(|case| case.name == name).unwrap();
            let shape = Shape::new(is_detail, wire, vec![size]);
            let document = readable(&shape, &case.files[&case.path], Verdict::Accept);
            assert_eq!(document, case.expected, "{name}");
        }
    }
}
