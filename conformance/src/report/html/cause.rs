//! The failures of a run, grouped by cause.

use serde::Serialize;

use super::failure::{Budget, FailureView};
use crate::cause::{Causes, Group};
use crate::report::words;
use crate::results::Results;
use atf_report::html::shown;

/// A cause and its failures, starting with the example.
#[derive(Serialize)]
pub(super) struct CauseView {
    seq: usize,
    id: String,
    title: String,
    state: &'static str,
    count: usize,
    /// The number of failures for each implementation, such as `ada-c 12, ada-py 3`.
    testees: String,
    failures: Vec<FailureView>,
}

/// Returns all causes, most urgent first. If the page is too small for all details, those of the
/// examples take priority.
pub(super) fn causes(results: &Results) -> Vec<CauseView> {
    let groups = Causes::new(&results.cases).groups();
    let mut budget = Budget::default();
    let examples: Vec<_> = groups
        .iter()
        .map(|group| failures(results, group, 0..1, &mut budget))
        .collect();
    let groups = groups.iter().enumerate().zip(examples);
    groups
        .map(|((seq, group), mut all)| {
            all.extend(failures(results, group, 1..usize::MAX, &mut budget));
            view(results, seq, group, all)
        })
        .collect()
}

fn failures(
    results: &Results,
    group: &Group<'_>,
    range: std::ops::Range<usize>,
    budget: &mut Budget,
) -> Vec<FailureView> {
    let cases = group
        .cases
        .iter()
        .skip(range.start)
        .take(range.end - range.start);
    cases
        .map(|(seq, case)| FailureView::new(results, *seq, case, budget))
        .collect()
}

fn view(results: &Results, seq: usize, group: &Group<'_>, failures: Vec<FailureView>) -> CauseView {
    let testees = (0..results.testees.len()).filter_map(|testee| {
        let cases = group.cases.iter();
        let count = cases.filter(|(_, case)| case.testee == testee).count();
        (count > 0).then(|| format!("{} {count}", shown(&words::name(results, testee))))
    });
    CauseView {
        seq,
        id: shown(&group.cause.id),
        title: shown(&group.cause.title),
        state: match group.failed {
            0 => "known",
            _ => "failed",
        },
        count: group.cases.len(),
        testees: testees.collect::<Vec<_>>().join(", "),
        failures,
    }
}
