//! Tests that a check of each edited session finds exactly the expected broken rules, in the
//! expected place and the expected number of times.

use std::fmt::Write as _;

use atf_conformance::corpus::{Found, Recipe, Trace, recipes};

use crate::support::Outcome;

/// Returns the differences from the expected findings, in one wire version.
fn faults(recipe: &Recipe, version: u8) -> Vec<String> {
    let trace = recipe.trace(version);
    let outcome = match recipe.subject() {
        folder if !folder.ends_with(".atf") => Outcome::of_folder(&trace, folder),
        _ => Outcome::of_trace(&trace),
    };
    let mut faults = Vec::new();
    for (path, why) in &outcome.unreadable {
        faults.push(format!("unreadable: {}: {why}", path.display()));
    }
    let broken = recipe.broken().into_iter();
    let mut broken: Vec<_> = broken
        .map(|(file, rule)| format!("{file} {rule}"))
        .collect();
    broken.sort();
    if outcome.broken() != broken {
        let found = outcome.broken().join("\n      ");
        let expected = broken.join("\n      ");
        faults.push(format!(
            "found\n      {found}\n    expected\n      {expected}"
        ));
    }
    if let (Some(found), Some(rule)) = (&recipe.found, recipe.rules.first()) {
        faults.extend(finding_faults(found, rule, &trace, &outcome));
    }
    faults
}

fn finding_faults(expected: &Found, rule: &str, trace: &Trace, outcome: &Outcome) -> Vec<String> {
    let Some(finding) = outcome.finding(&expected.file, rule) else {
        return Vec::new();
    };
    let place = expected.place(trace);
    let mut faults = Vec::new();
    if finding.place != place {
        faults.push(format!("at {:?}, expected {place:?}", finding.place));
    }
    if finding.count != expected.count {
        let (found, expected) = (finding.count, expected.count);
        faults.push(format!("{found} times, expected {expected}"));
    }
    let verdict = outcome.verdict(&expected.file);
    if verdict != expected.verdict {
        faults.push(format!("{verdict:?}, expected {:?}", expected.verdict));
    }
    faults
}

/// Runs the recipes for these rules and reports all differences.
fn run(prefixes: &[&str]) {
    let mut faults_found = String::new();
    let is_of = |recipe: &&Recipe| {
        let first = recipe.rules.first().copied().unwrap_or_default();
        prefixes.iter().any(|prefix| first.starts_with(prefix))
    };
    let edited = recipes().iter().filter(|recipe| !recipe.is_clean());
    for recipe in edited.filter(is_of) {
        for version in &recipe.wires {
            for fault in faults(recipe, *version) {
                let slug = recipe.slug();
                let _ = write!(faults_found, "\n  v{version}/{slug}:\n    {fault}");
            }
        }
    }
    assert!(faults_found.is_empty(), "{faults_found}");
}

#[test]
fn the_rules_of_the_index_file() {
    run(&["ATF-IHDR", "ATF-IEVT", "ATF-IFTR"]);
}

#[test]
fn the_rules_of_the_detail_file() {
    run(&["ATF-DHDR", "ATF-DEVT", "ATF-DPAY", "ATF-DFTR"]);
}

#[test]
fn the_rules_of_links() {
    run(&["ATF-LINK"]);
}

#[test]
fn the_rules_of_the_manifest() {
    run(&["ATF-MANI"]);
}

#[test]
fn the_rules_of_the_session() {
    run(&["ATF-SESS", "ATF-RING"]);
}
