//! Mistakes that real implementations make, and the correct behaviour.

mod file;
mod session;

use atf_conformance::Verdict;

use crate::support::{INDEX, Outcome, Trace};

/// Checks an edited session in both wire versions.
fn each(edit: impl Fn(&mut Trace), check: impl Fn(&Outcome)) {
    for version in [1, 2] {
        let mut trace = Trace::clean(version);
        edit(&mut trace);
        let outcome = Outcome::of_trace(&trace);
        assert!(outcome.unreadable.is_empty(), "{:?}", outcome.unreadable);
        check(&outcome);
    }
}

/// Checks that the file has the verdict and breaks the rule. If the index can be read, it must have
/// all its events.
fn each_breaks(file: &str, rule: &str, verdict: Verdict, edit: impl Fn(&mut Trace)) {
    each(edit, |outcome| {
        assert_eq!(outcome.verdict(file), verdict);
        assert!(
            outcome.finding(file, rule).is_some(),
            "{:?}",
            outcome.broken()
        );
        if let Some(index) = outcome.reports.iter().find(|r| outcome.name(r) == INDEX) {
            assert!(matches!(index.events, None | Some(6)), "{:?}", index.events);
        }
    });
}

/// Checks that the file breaks exactly these rules.
fn assert_rules(outcome: &Outcome, file: &str, rules: &[&str]) {
    let all = outcome.broken();
    let prefix = format!("{file} ");
    let own: Vec<_> = all
        .iter()
        .filter_map(|line| line.strip_prefix(&prefix))
        .collect();
    assert_eq!(own, rules);
}
