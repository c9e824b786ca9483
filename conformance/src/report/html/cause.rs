//! The failures of a run, grouped by cause.

use serde::Serialize;

use super::failure::{Budget, FailureView};
use crate::cause::{Causes, Group};
use crate::report::words;
use crate::results::{CaseResult, Results};
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
    let mut budget = Budget::WHOLE;
    let examples = groups.iter();
    let examples = examples.map(|group| failures(results, &group.cases[..1], &mut budget));
    let examples: Vec<_> = examples.collect();
    let groups = groups.iter().enumerate().zip(examples);
    let views = groups.map(|((seq, group), mut all)| {
        all.extend(failures(results, &group.cases[1..], &mut budget));
        view(results, seq, group, all)
    });
    views.collect()
}

fn failures(
    results: &Results,
    cases: &[(usize, &CaseResult)],
    budget: &mut Budget,
) -> Vec<FailureView> {
    let view = |(seq, case): &(usize, &CaseResult)| FailureView::new(results, *seq, case, budget);
    cases.iter().map(view).collect()
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
