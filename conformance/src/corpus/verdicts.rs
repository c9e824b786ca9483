//! Which verdicts are right on what breaks some rules, and why it must be refused where only that is.

use std::collections::BTreeSet;

use crate::Verdict;
use crate::rules::{self, Rule};

/// The verdicts that are right on a file which breaks these rules: of each rule one, the worst counts.
pub(super) fn of_rules<'a>(broken: impl IntoIterator<Item = &'a str>) -> BTreeSet<Verdict> {
    let rules = broken.into_iter().map(rule);
    rules.fold(BTreeSet::from([Verdict::Accept]), |all, rule| {
        worst_of(&all, &rule.verdicts())
    })
}

/// The verdicts on a whole of two parts.
fn worst_of(one: &BTreeSet<Verdict>, other: &BTreeSet<Verdict>) -> BTreeSet<Verdict> {
    let pairs = one
        .iter()
        .flat_map(|first| other.iter().map(move |second| (*first).max(*second)));
    pairs.collect()
}

/// The verdicts on a session: a file that is refused is one that is not there.
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

/// The sentences of the sources, or the harm, for which such a file must be refused.
pub(super) fn because<'a>(broken: impl IntoIterator<Item = &'a str>) -> Vec<&'static str> {
    let rules = broken.into_iter().map(rule);
    rules.filter_map(|rule| rule.because).collect()
}

fn rule(id: &str) -> &'static Rule {
    rules::find(id).unwrap_or_else(|| panic!("no rule {id}"))
}
