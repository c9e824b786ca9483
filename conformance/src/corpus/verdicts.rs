//! The correct verdicts on a subject that breaks some rules, and the reasons to reject it.

use std::collections::{BTreeMap, BTreeSet};

use crate::Verdict;
use crate::rules::{self, Rule};

/// Returns the correct verdicts on a file that breaks these rules. Readers choose one of the
/// verdicts that each rule allows; the file's verdict is the worst of them.
pub(crate) fn of_rules<'a>(broken: impl IntoIterator<Item = &'a str>) -> BTreeSet<Verdict> {
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

/// Returns the correct verdicts on a session whose files break these rules, treating a rejected file
/// as missing.
pub(crate) fn of_session<'a>(
    broken: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> BTreeSet<Verdict> {
    let missing = |verdicts: BTreeSet<Verdict>| -> BTreeSet<Verdict> {
        let verdicts = verdicts.into_iter();
        verdicts.map(|it| it.min(Verdict::Recover)).collect()
    };
    let mut by_file: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (file, rule) in broken {
        by_file.entry(file).or_default().push(rule);
    }
    let files = by_file.into_values().map(of_rules);
    files.fold(BTreeSet::from([Verdict::Accept]), |all, file| {
        worst_of(&all, &missing(file))
    })
}

/// Returns the reasons to reject a file that breaks these rules: sentences from the sources, or the
/// harm that reading the file would do.
pub(super) fn because<'a>(broken: impl IntoIterator<Item = &'a str>) -> Vec<&'static str> {
    let rules = broken.into_iter().map(rule);
    rules.filter_map(|rule| rule.because).collect()
}

fn rule(id: &str) -> &'static Rule {
    rules::find(id).unwrap_or_else(|| panic!("no rule {id}"))
}
