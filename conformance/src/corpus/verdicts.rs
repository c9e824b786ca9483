//! The right verdicts on a subject that breaks some rules, and the reasons to reject it.

use std::collections::BTreeSet;

use crate::Verdict;
use crate::rules::{self, Rule};

/// Returns the right verdicts on a file that breaks these rules: the worst of one verdict per rule.
pub(super) fn of_rules<'a>(broken: impl IntoIterator<Item = &'a str>) -> BTreeSet<Verdict> {
    let rules = broken.into_iter().map(rule);
    rules.fold(BTreeSet::from([Verdict::Accept]), |all, rule| {
        worst_of(&all, &rule.verdicts())
    })
}

/// Combines the verdicts on two parts into the verdicts on the whole.
fn worst_of(one: &BTreeSet<Verdict>, other: &BTreeSet<Verdict>) -> BTreeSet<Verdict> {
    let pairs = one
        .iter()
        .flat_map(|first| other.iter().map(move |second| (*first).max(*second)));
    pairs.collect()
}

/// Returns the right verdicts on a session: a rejected file counts as a missing one.
pub(super) fn of_session<'a>(
    files: impl IntoIterator<Item = &'a BTreeSet<Verdict>>,
) -> BTreeSet<Verdict> {
    let missing = |verdicts: &BTreeSet<Verdict>| -> BTreeSet<Verdict> {
        let verdicts = verdicts.iter();
        verdicts.map(|it| (*it).min(Verdict::Recover)).collect()
    };
    let files = files.into_iter();
    files.fold(BTreeSet::from([Verdict::Accept]), |all, file| {
        worst_of(&all, &missing(file))
    })
}

/// Returns why a file that breaks these rules must be rejected: sentences of the sources, or the
/// harm.
pub(super) fn because<'a>(broken: impl IntoIterator<Item = &'a str>) -> Vec<&'static str> {
    let rules = broken.into_iter().map(rule);
    rules.filter_map(|rule| rule.because).collect()
}

fn rule(id: &str) -> &'static Rule {
    rules::find(id).unwrap_or_else(|| panic!("no rule {id}"))
}
