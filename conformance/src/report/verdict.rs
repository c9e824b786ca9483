//! Summarizes a run in one line: whether it went as expected.

use std::collections::BTreeMap;

use super::tally::{self, Scores, Tally};
use crate::lacks::Lack;
use crate::results::{CaseResult, Grading, Results};
use atf_report::counted;

/// Returns whether everything was as expected.
pub(super) fn is_good(results: &Results) -> bool {
    faults(results).is_empty()
}

/// Lists everything unexpected, with numbers.
fn faults(results: &Results) -> Vec<String> {
    let failed = Tally::count(&results.cases).failed;
    let cross: usize = results.cross.iter().map(|pair| pair.failed.len()).sum();
    let faults = [
        (failed, "failed"),
        (cross as u64, "failed between writers and readers"),
        (results.refused().count() as u64, "not graded"),
        (results.stale.len() as u64, "stale in failure lists"),
    ];
    let faults = faults.into_iter().filter(|(count, _)| *count > 0);
    faults
        .map(|(count, words)| format!("{count} {words}"))
        .collect()
}

/// Returns the faults or, if everything was as expected, the number of passed results.
pub(super) fn headline(results: &Results) -> String {
    let Tally { passed, known, .. } = Tally::count(&results.cases);
    let faults = faults(results);
    match (faults.is_empty(), known) {
        (false, _) => faults.join(", "),
        (true, 0) if results.cases.is_empty() => {
            "Nothing was graded: the selected cases are for other roles".to_owned()
        }
        (true, 0) if passed == 0 => "Nothing was graded".to_owned(),
        (true, 0) => match tally::share(&results.cases) {
            100 => format!("All {passed} passed"),
            percent => format!("All {passed} passed, {percent} % of the cases were graded"),
        },
        (true, _) => format!("As expected: {passed} passed, known failures: {known}"),
    }
}

/// Formats both scores, as in `data 290 of 327, labels 211 of 300`.
pub(super) fn scores<'a>(
    results: &Results,
    cases: impl IntoIterator<Item = &'a CaseResult>,
) -> String {
    let Scores { data, label } = Scores::count(cases);
    match (results.grading, label.passed + label.failed) {
        (Grading::Data, _) => format!("data {data}, labels not graded"),
        // Writers have no labels.
        (Grading::All, 0) => format!("data {data}"),
        (Grading::All, _) => format!("data {data}, labels {label}"),
    }
}

/// Formats the share of the cases that was graded, both scores, and the parts that were not graded,
/// as in `graded 40 %; data …; not graded: footers (321 cases)`.
pub(super) fn graded<'a>(
    results: &Results,
    cases: impl IntoIterator<Item = &'a CaseResult> + Clone,
) -> String {
    let share = tally::share(cases.clone());
    let scores = scores(results, cases.clone());
    let scores = format!("graded {share} %; {scores}");
    match gaps(cases) {
        None => scores,
        Some(gaps) => format!("{scores}; not graded: {gaps}"),
    }
}

/// Formats the parts that were not graded, as in `footers (321 cases)`.
pub(super) fn gaps<'a>(cases: impl IntoIterator<Item = &'a CaseResult>) -> Option<String> {
    let mut counts: BTreeMap<Lack, u64> = BTreeMap::new();
    for lack in cases.into_iter().flat_map(|case| &case.not_graded) {
        *counts.entry(*lack).or_default() += 1;
    }
    let gaps = counts.into_iter();
    let gaps: Vec<_> = gaps
        .map(|(lack, count)| format!("{} ({})", lack.words(), counted(count, "case")))
        .collect();
    (!gaps.is_empty()).then(|| gaps.join(", "))
}
