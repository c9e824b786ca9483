//! The JSON report: a summary followed by the whole model, as described in
//! `schema/results.schema.json`.

use std::io::{self, Write};

use serde::Serialize;

use super::tally::{Scores, Tally};
use crate::cause::{Cause, Causes};
use crate::results::{CaseResult, Grade, Results, Score};

/// The version of the JSON format. It increases when a key is removed or changes its meaning.
const FORMAT: u32 = 2;

#[derive(Serialize)]
struct Report<'a> {
    format: u32,
    summary: Summary,
    causes: Vec<CauseView>,
    #[serde(flatten)]
    results: &'a Results,
    cases: Vec<CaseView<'a>>,
}

/// A case with its scores in both grades and its cause.
#[derive(Serialize)]
struct CaseView<'a> {
    #[serde(flatten)]
    case: &'a CaseResult,
    data: Score,
    label: Score,
    cause: Option<String>,
}

/// A cause and the indices of its failures in the list of cases.
#[derive(Serialize)]
struct CauseView {
    #[serde(flatten)]
    cause: Cause,
    failed: usize,
    cases: Vec<usize>,
}

#[derive(Serialize)]
struct Summary {
    #[serde(flatten)]
    tally: Tally,
    #[serde(flatten)]
    scores: Scores,
    refused: usize,
    stale: usize,
    cross_failed: usize,
}

pub(super) fn write(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let causes = Causes::new(&results.cases);
    let report = Report {
        format: FORMAT,
        summary: Summary {
            tally: Tally::count(&results.cases),
            scores: Scores::count(&results.cases),
            refused: results.refused().count(),
            stale: results.stale.len(),
            cross_failed: results.cross.iter().map(|cross| cross.failed.len()).sum(),
        },
        causes: causes
            .groups()
            .into_iter()
            .map(|group| CauseView {
                cases: group.cases.iter().map(|(seq, _)| *seq).collect(),
                failed: group.failed,
                cause: group.cause,
            })
            .collect(),
        results,
        cases: { results.cases.iter() }
            .map(|case| CaseView {
                case,
                data: case.score(Grade::Data),
                label: case.score(Grade::Label),
                cause: causes.of(case).map(|cause| cause.id),
            })
            .collect(),
    };
    serde_json::to_writer(&mut *out, &report)?;
    out.write_all(b"\n")
}
