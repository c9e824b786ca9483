//! Writes a comparison as a JSON object.

use std::io::Write;

use atf_analyze::{Change, Figures, Spread, Subject, Totals};
use serde::Serialize;

use super::{About, Shown, state};
use crate::json::{self, U64};
use crate::output::Failure;
use crate::report::Sums;
use crate::text::{head, length_if_cut};

#[derive(Serialize)]
struct Comparison<'a> {
    before: Vec<RunRow<'a>>,
    after: Vec<RunRow<'a>>,
    /// The sums of all self times.
    all_self_ns: Sides,
    noise: Noise,
    functions: Vec<Row<'a>>,
    not_shown: U64,
    not_shown_small: U64,
    not_shown_noise: U64,
}

#[derive(Serialize)]
struct Sides {
    before: Range,
    after: Range,
}

#[derive(Serialize)]
struct RunRow<'a> {
    path: String,
    totals: Sums,
    problems: &'a [String],
}

/// The noise bound.
#[derive(Serialize)]
#[serde(untagged)]
enum Noise {
    /// A difference of at most this percentage of the greater value is noise.
    Assumed { percent: u32 },
    /// A difference is noise if the two sides' ranges overlap. If nothing changed, chance alone
    /// makes the ranges disjoint in `luck` out of `of` cases.
    Ranges { luck: U64, of: U64 },
}

#[derive(Serialize)]
struct Row<'a> {
    #[serde(flatten)]
    function: Function<'a>,
    state: &'static str,
    change_ns: String,
    before: Side,
    after: Side,
}

#[derive(Serialize)]
struct Function<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    function: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_length: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_id: Option<U64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    module: Option<&'a str>,
}

#[derive(Serialize)]
struct Side {
    calls: Range,
    self_ns: Range,
    total_ns: Range,
}

#[derive(Serialize)]
struct Range {
    min: U64,
    median: U64,
    max: U64,
}

pub(super) fn write(mut out: impl Write, shown: &Shown<'_>) -> Result<(), Failure> {
    let [before, after] = shown
        .sides()
        .map(|(_, runs)| runs.map(RunRow::from).collect());
    let (luck, of) = shown.diff.luck();
    let [sums_before, sums_after] = shown.sums();
    let comparison = Comparison {
        before,
        after,
        all_self_ns: Sides {
            before: sums_before.into(),
            after: sums_after.into(),
        },
        noise: if shown.is_single() {
            Noise::Assumed {
                percent: shown.noise_percent,
            }
        } else {
            Noise::Ranges {
                luck: U64(luck),
                of: U64(of),
            }
        },
        functions: shown.rows.iter().map(|row| Row::from(*row)).collect(),
        not_shown: U64(shown.more),
        not_shown_small: U64(shown.small),
        not_shown_noise: U64(shown.noise),
    };
    json::line(&mut out, &comparison)?;
    Ok(out.flush()?)
}

impl<'a> From<(&'a About, &Totals)> for RunRow<'a> {
    fn from((about, totals): (&'a About, &Totals)) -> Self {
        Self {
            path: json::path(&about.path),
            totals: about.summed(totals).into(),
            problems: &about.problems,
        }
    }
}

impl<'a> From<&'a Change> for Row<'a> {
    fn from(change: &'a Change) -> Self {
        Self {
            function: Function::from(&change.subject),
            state: state(change),
            change_ns: change.change_ns().to_string(),
            before: Side::from(&change.before),
            after: Side::from(&change.after),
        }
    }
}

impl<'a> From<&'a Subject> for Function<'a> {
    fn from(subject: &'a Subject) -> Self {
        let (name, id) = match subject {
            Subject::Named { name, .. } => (Some(name.as_str()), None),
            Subject::Unnamed { id, .. } => (None, Some(U64(*id))),
            // A row for several indistinguishable functions has neither a name nor an id.
            _ => (None, None),
        };
        Self {
            function: name.map(head),
            function_length: name.and_then(length_if_cut),
            function_id: id,
            module: subject.module(),
        }
    }
}

impl From<&Figures> for Side {
    fn from(figures: &Figures) -> Self {
        Self {
            calls: figures.calls.into(),
            self_ns: figures.self_ns.into(),
            total_ns: figures.total_ns.into(),
        }
    }
}

impl From<Spread> for Range {
    fn from(spread: Spread) -> Self {
        Self {
            min: U64(spread.min),
            median: U64(spread.median),
            max: U64(spread.max),
        }
    }
}
