//! Tests that every rule has test cases.

use std::collections::BTreeSet;
use std::path::Path;

use atf_conformance::corpus::recipes;
use atf_conformance::rule;
use atf_conformance::rules::{self, Rule};
use atf_conformance::{FileReport, Kind, Place};

/// Returns the rules that cases break (if `breaks` is set) or follow (otherwise), each with its
/// wire version.
fn tried(breaks: bool) -> BTreeSet<(&'static str, u8)> {
    let recipes = recipes().iter();
    let fitting = recipes.filter(|recipe| recipe.found.is_some() == breaks);
    let mut tried = BTreeSet::new();
    for recipe in fitting {
        for wire in &recipe.wires {
            let rules = recipe.rules_in(*wire).into_iter();
            tried.extend(rules.map(|rule| (rule, *wire)));
        }
    }
    tried
}

#[test]
fn each_rule_is_followed_and_broken_in_each_of_its_wire_versions() {
    let testable = rules::ALL.iter().filter(|rule| rule.untestable.is_none());
    let (of_writers, of_readers): (Vec<_>, Vec<_>) =
        testable.partition(|rule| rule.binds_writers());
    let in_wires = |rules: &[&&'static Rule]| -> BTreeSet<_> {
        let rules = rules.iter();
        rules
            .flat_map(|rule| rule.wires.iter().map(|wire| (rule.id, *wire)))
            .collect()
    };
    let (all, asked) = (in_wires(&of_writers), in_wires(&of_readers));
    // Rules that bind only readers cannot be broken by a file, so any case is enough.
    let tried_at_all = &tried(true) | &tried(false);
    let missing: Vec<_> = asked.difference(&tried_at_all).collect();
    assert!(missing.is_empty(), "no case: {missing:?}");
    for breaks in [true, false] {
        let tried = &tried(breaks) - &asked;
        let missing: Vec<_> = all.difference(&tried).collect();
        assert!(
            missing.is_empty(),
            "no case with breaks = {breaks}: {missing:?}"
        );
        let excess: Vec<_> = tried.difference(&all).collect();
        assert!(
            excess.is_empty(),
            "no such rule in that wire version: {excess:?}"
        );
    }
}

#[test]
fn a_rule_applies_only_in_its_wire_versions() {
    let mut report = FileReport::new(Path::new("index.atf"), Kind::Index);
    report.wire = Some(2);
    report.add(rule("ATF-IEVT-003"), Place::in_field(""), String::new);
    assert!(report.findings().is_empty());
    report.wire = Some(1);
    report.add(rule("ATF-IEVT-003"), Place::in_field(""), String::new);
    assert_eq!(report.findings().len(), 1);
}

#[test]
fn a_rule_broken_many_times_is_one_finding_with_a_count_and_a_few_places() {
    let mut report = FileReport::new(Path::new("index.atf"), Kind::Index);
    for seq in 0..100_u64 {
        report.add(rule("ATF-IEVT-002"), Place::at("event_kind", seq), || {
            seq.to_string()
        });
    }
    let findings = report.findings();
    let [finding] = findings.as_slice() else {
        panic!("{findings:?}");
    };
    assert_eq!((finding.count, finding.message.as_str()), (100, "0"));
    let places = [&finding.place].into_iter().chain(&finding.more);
    let offsets: Vec<_> = places.map(|place| place.offset.unwrap()).collect();
    assert_eq!(offsets, (0..8).collect::<Vec<_>>());
}

#[test]
fn structural_musts_are_those_that_a_recovery_must_repair() {
    for (rule, is_structural) in [
        (rule("ATF-IHDR-002"), true),
        (rule("ATF-IFTR-002"), true),
        // The first is a SHOULD, and the second is a MUST about the events' content.
        (rule("ATF-IFTR-006"), false),
        (rule("ATF-IEVT-003"), false),
    ] {
        assert_eq!(rule.is_structural_must(), is_structural, "{}", rule.id);
    }
}
