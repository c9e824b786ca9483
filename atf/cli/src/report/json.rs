//! Writes JSON lines: one object per session or thread.

use std::io::Write;

use atf_analyze::{Bucket, EventPlace, FunctionTimes, Node, Times};
use serde::Serialize;

use super::rows::{Cut, Row, Rows};
use super::{Section, Sink, Summed};
use crate::json::{self, LossInfo, Named, U64};
use crate::output::Failure;

pub(super) struct Json<W>(pub(super) W);

#[derive(Serialize)]
struct Table<'a> {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    thread: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thread_name: Option<&'a str>,
    #[serde(flatten)]
    content: Content<'a>,
    /// Callers and callees have their own.
    #[serde(flatten)]
    cut: Option<Left>,
    totals: Sums,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
    /// The messages of problems that are not in an earlier object.
    problems: &'a [String],
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Content<'a> {
    Functions(Vec<FunctionRow<'a>>),
    Histograms(Vec<Histogram<'a>>),
    Tree(Vec<TimesRow<'a>>),
    Callers(Vec<PairList<'a>>),
    Callees(Vec<PairList<'a>>),
}

/// The rows and calls omitted from a table.
#[derive(Serialize)]
struct Left {
    not_shown: U64,
    /// The totals of the functions or pairs beyond the limit of the analysis.
    #[serde(skip_serializing_if = "Option::is_none")]
    others: Option<Numbers>,
}

#[derive(Serialize)]
struct Numbers {
    calls: U64,
    open: U64,
    /// How many open calls last at least until the process's last event, so that their times are
    /// minimums.
    at_least: U64,
    self_ns: U64,
    total_ns: U64,
}

#[derive(Serialize)]
struct FunctionRow<'a> {
    #[serde(flatten)]
    function: Named<'a>,
    #[serde(flatten)]
    times: Numbers,
    min_ns: Option<U64>,
    median_ns: Option<U64>,
    p99_ns: Option<U64>,
    max_ns: Option<U64>,
    unmatched: U64,
}

#[derive(Serialize)]
struct Histogram<'a> {
    #[serde(flatten)]
    row: FunctionRow<'a>,
    buckets: Vec<BucketRow>,
}

#[derive(Serialize)]
struct BucketRow {
    from_ns: U64,
    to_ns: U64,
    calls: U64,
}

/// A node of the tree, which has a depth, or a caller or callee.
#[derive(Serialize)]
struct TimesRow<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<u32>,
    #[serde(flatten)]
    function: Option<Named<'a>>,
    #[serde(flatten)]
    times: Numbers,
}

#[derive(Serialize)]
struct PairList<'a> {
    of: Named<'a>,
    rows: Vec<TimesRow<'a>>,
    #[serde(flatten)]
    cut: Left,
}

/// The totals of a table.
#[derive(Serialize)]
pub(crate) struct Sums {
    threads: U64,
    events: U64,
    calls: U64,
    open: U64,
    at_least: U64,
    unmatched: U64,
    out_of_order: U64,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_out_of_order: Option<Place>,
    given_up: U64,
    #[serde(flatten)]
    lost: LossInfo,
    /// Whether all lost events are counted. If not, a manifest or a thread could not be read.
    knows_losses: bool,
    /// How many of the events counted in the file headers are missing from the files.
    missing_events: U64,
    /// The maximum number of events per thread that the tracer had not yet written when it ended.
    unwritten_events: U64,
    busy_ns: U64,
    start_ns: Option<U64>,
    end_ns: Option<U64>,
}

/// The thread, the index file and the position of an event.
#[derive(Serialize)]
struct Place {
    thread: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    seq: U64,
}

impl From<&EventPlace> for Place {
    fn from(place: &EventPlace) -> Self {
        Self {
            thread: place.thread,
            path: place.path.as_deref().map(json::path),
            seq: place.seq.into(),
        }
    }
}

impl From<Summed<'_>> for Sums {
    fn from(summed: Summed<'_>) -> Self {
        let totals = summed.totals;
        Self {
            threads: totals.threads.into(),
            events: totals.events.into(),
            calls: totals.calls.into(),
            open: totals.open.into(),
            at_least: totals.at_least.into(),
            unmatched: totals.unmatched.into(),
            out_of_order: totals.out_of_order.into(),
            first_out_of_order: totals.first_out_of_order.as_ref().map(Place::from),
            given_up: totals.given_up.into(),
            lost: LossInfo(totals.losses),
            knows_losses: summed.knows_losses,
            missing_events: totals.missing_events.into(),
            unwritten_events: summed.unwritten_events().unwrap_or(0).into(),
            busy_ns: totals.busy_ns.into(),
            start_ns: totals.times.map(|(start_ns, _)| start_ns.into()),
            end_ns: totals.times.map(|(_, end_ns)| end_ns.into()),
        }
    }
}

impl From<&Times> for Numbers {
    fn from(times: &Times) -> Self {
        Self {
            calls: times.calls.into(),
            open: times.open.into(),
            at_least: times.at_least.into(),
            self_ns: times.self_ns.into(),
            total_ns: times.total_ns.into(),
        }
    }
}

impl From<&Cut> for Left {
    fn from(cut: &Cut) -> Self {
        Self {
            not_shown: cut.rows.into(),
            others: cut.others.as_ref().map(Numbers::from),
        }
    }
}

fn function_row<'a>(row: &'a Row<'_, &FunctionTimes>) -> Option<FunctionRow<'a>> {
    let durations = &row.value.durations;
    Some(FunctionRow {
        function: row.function?.into(),
        times: (&row.value.times).into(),
        min_ns: durations.min_ns().map(U64),
        median_ns: durations.quantile_ns(500).map(U64),
        p99_ns: durations.quantile_ns(990).map(U64),
        max_ns: durations.max_ns().map(U64),
        unmatched: row.value.unmatched.into(),
    })
}

/// Returns a table's rows, and what was omitted from them.
fn content<'a>(rows: &'a Rows<'_>) -> (Content<'a>, Option<Left>) {
    match rows {
        Rows::Functions(rows, cut) => {
            let rows = rows.iter().filter_map(function_row).collect();
            (Content::Functions(rows), Some(cut.into()))
        }
        Rows::Histograms(rows, cut) => {
            let bucket = |bucket: Bucket| BucketRow {
                from_ns: bucket.from_ns.into(),
                to_ns: bucket.to_ns.into(),
                calls: bucket.count.into(),
            };
            let histogram = |row: &'a Row<'_, &FunctionTimes>| {
                Some(Histogram {
                    row: function_row(row)?,
                    buckets: row.value.durations.buckets().map(bucket).collect(),
                })
            };
            let rows = rows.iter().filter_map(histogram).collect();
            (Content::Histograms(rows), Some(cut.into()))
        }
        Rows::Tree(rows, cut) => {
            let row = |row: &'a Row<'_, Node>| TimesRow {
                depth: Some(row.value.depth),
                function: row.function.map(Named::from),
                times: (&row.value.times).into(),
            };
            let rows = rows.iter().map(row).collect();
            (Content::Tree(rows), Some(cut.into()))
        }
        Rows::Pairs(what, all) => {
            let row = |row: &'a Row<'_, Times>| TimesRow {
                depth: None,
                function: row.function.map(Named::from),
                times: (&row.value).into(),
            };
            let all = all.iter().map(|rows| PairList {
                of: rows.of.into(),
                rows: rows.pairs.iter().map(row).collect(),
                cut: (&rows.cut).into(),
            });
            let all = all.collect();
            let content = match *what {
                "callees" => Content::Callees(all),
                _ => Content::Callers(all),
            };
            (content, None)
        }
    }
}

impl<W: Write> Sink for Json<W> {
    fn section(&mut self, section: &Section<'_>) -> Result<(), Failure> {
        let (content, cut) = content(&section.rows);
        let table = Table {
            path: json::path(section.process.path()),
            thread: section.thread,
            thread_name: section
                .thread
                .and_then(|id| section.process.thread_name(id)),
            content,
            cut,
            totals: section.summed().into(),
            note: section.note.as_deref(),
            problems: &section.problems,
        };
        json::line(&mut self.0, &table)
    }
}
