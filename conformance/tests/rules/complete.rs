//! No rule without its cases.

use std::collections::BTreeSet;
use std::path::Path;

use atf_conformance::corpus::recipes;
use atf_conformance::rules::table;
use atf_conformance::{FileReport, Kind, Place};

use crate::support::{Outcome, Trace};

/// The rules that some case breaks, or meets, with the wire versions.
fn tried(breaks: bool) -> BTreeSet<(&'static str, u8)> {
    let recipes = recipes().into_iter();
    let fitting = recipes.filter(|recipe| recipe.found.is_some() == breaks);
    let mut tried = BTreeSet::new();
    for recipe in fitting {
        for wire in recipe.wires {
            let rules = recipe.rules_in(*wire).into_iter();
            tried.extend(rules.map(|rule| (rule, *wire)));
        }
    }
    tried
}

#[test]
fn each_rule_is_met_and_broken_in_each_of_its_wire_versions() {
    let testable = table::ALL.iter().filter(|rule| rule.untestable.is_none());
    let all: BTreeSet<_> = testable
        .flat_map(|rule| rule.wires.iter().map(|wire| (rule.id, *wire)))
        .collect();
    for breaks in [true, false] {
        let tried = tried(breaks);
        let missing: Vec<_> = all.difference(&tried).collect();
        assert!(
            missing.is_empty(),
            "no case where breaks is {breaks}: {missing:?}"
        );
        let excess: Vec<_> = tried.difference(&all).collect();
        assert!(
            excess.is_empty(),
            "no such rule in that wire version: {excess:?}"
        );
    }
}

#[test]
fn the_session_that_the_cases_edit_has_no_finding() {
    for version in [1, 2] {
        let outcome = Outcome::of_trace(&Trace::clean(version));
        assert_eq!(outcome.broken(), [""; 0]);
        assert!(outcome.unreadable.is_empty());
        let counts = |file| {
            let report = outcome.report(file);
            (report.events, report.details, report.wire)
        };
        assert_eq!(counts("thread_7/index.atf"), (Some(6), None, Some(version)));
        assert_eq!(
            counts("thread_7/detail.atf"),
            (None, Some(3), Some(version))
        );
        assert_eq!(counts("thread_9/index.atf"), (Some(2), None, Some(version)));
        assert_eq!(counts("manifest.json"), (None, None, None));
        assert_eq!(outcome.reports.len(), 4);
    }
}

#[test]
fn a_rule_is_not_broken_in_a_wire_version_that_it_does_not_hold_for() {
    let mut report = FileReport::new(Path::new("index.atf"), Kind::Index);
    report.wire = Some(2);
    report.add(&table::ATF_IEVT_003, Place::of(""), String::new);
    assert!(report.findings().is_empty());
    report.wire = Some(1);
    report.add(&table::ATF_IEVT_003, Place::of(""), String::new);
    assert_eq!(report.findings().len(), 1);
}
