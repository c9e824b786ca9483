//! Selects and sorts the rows of a report.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use atf::symbols::Function;
use atf_analyze::{FunctionTimes, Node, Pair, Pattern, Times};
use clap::ValueEnum;

use super::{Found, Report, most};
use crate::output::complain;
use crate::trace::TimedProcess;

/// The column to sort by: largest first, or alphabetically by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sort {
    #[value(name = "self")]
    Own,
    Total,
    Calls,
    Max,
    Name,
}

/// The rows of one table.
pub(super) enum Rows<'a> {
    Functions(Vec<Row<'a, &'a FunctionTimes>>, Cut),
    /// A histogram of the calls' durations for each matching function.
    Histograms(Vec<Row<'a, &'a FunctionTimes>>, Cut),
    Tree(Vec<Row<'a, Node>>, Cut),
    /// A table for each matching function, with the pairs in which that function is the callee or
    /// the caller.
    Pairs(&'static str, Vec<PairRows<'a>>),
}

/// A function's row.
pub(super) struct Row<'a, T> {
    /// The function, or `None` if the row represents several functions that the analysis did not
    /// distinguish.
    pub(super) function: Option<Function<'a>>,
    pub(super) value: T,
}

/// The callers or callees of a function.
pub(super) struct PairRows<'a> {
    pub(super) of: Function<'a>,
    /// The other function; `None` for calls without a caller.
    pub(super) pairs: Vec<Row<'a, Times>>,
    pub(super) cut: Cut,
}

/// The rows and calls omitted from a table.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Cut {
    pub(super) rows: u64,
    /// The totals of functions or pairs that the analysis did not distinguish.
    pub(super) others: Option<Times>,
}

impl Report {
    /// Returns the rows that the options select.
    pub(super) fn rows<'p>(&self, process: &'p TimedProcess, found: &'p Found) -> Rows<'p> {
        match found {
            Found::Functions(found) => {
                let row = |it: &'p FunctionTimes| Row {
                    function: Some(process.function(it.function_id)),
                    value: it,
                };
                let pattern = self.histogram.as_ref();
                let functions = found.functions.iter();
                let functions = functions.filter(|it| {
                    pattern.is_none_or(|pattern| pattern.fits(&process.function(it.function_id)))
                });
                let mut rows: Vec<_> = functions.map(row).collect();
                let max_ns = |it: &&FunctionTimes| it.durations.max_ns();
                let by = self.sort.unwrap_or(Sort::Own);
                sort(by, &mut rows, |it| it.times, max_ns);
                let mut cut = self.cut(&mut rows);
                cut.others = found.others.as_ref().map(|others| others.times);
                match pattern {
                    Some(pattern) => {
                        complain_if_none(&rows, pattern);
                        Rows::Histograms(rows, cut)
                    }
                    None => Rows::Functions(rows, cut),
                }
            }
            Found::Tree(found) => {
                let depth = self.depth.unwrap_or(u32::MAX);
                let (rows, cut) = branches(process, &found.nodes, depth, self.min_percent);
                Rows::Tree(rows, cut)
            }
            Found::Pairs(found) => {
                let (what, pattern) = match (&self.callees, &self.callers) {
                    (Some(pattern), _) => ("callees", pattern),
                    (None, Some(pattern)) => ("callers", pattern),
                    (None, None) => return Rows::Pairs("", Vec::new()),
                };
                let is_callees = what == "callees";
                let functions = matching(process, &found.pairs, pattern);
                complain_if_none(&functions, pattern);
                let of = |id| {
                    let row = |other: Option<u64>, times: Times| Row {
                        function: other.map(|id| process.function(id)),
                        value: times,
                    };
                    let mut pairs: Vec<_> = if is_callees {
                        let callees = found.callees(id);
                        callees.map(|it| row(Some(it.callee), it.times)).collect()
                    } else {
                        let callers = found.callers(id);
                        callers.map(|it| row(it.caller, it.times)).collect()
                    };
                    let by = self.sort.unwrap_or(Sort::Total);
                    sort(by, &mut pairs, |it| *it, |_| None);
                    let mut cut = self.cut(&mut pairs);
                    cut.others = found.others;
                    let of = process.function(id);
                    PairRows { of, pairs, cut }
                };
                Rows::Pairs(what, functions.into_iter().map(of).collect())
            }
        }
    }

    fn cut<T>(&self, rows: &mut Vec<T>) -> Cut {
        let limit = most(self.limit);
        let more = rows.len().saturating_sub(limit) as u64;
        rows.truncate(limit);
        Cut {
            rows: more,
            others: None,
        }
    }
}

/// Sorts rows. The sort is stable, so equal rows keep the order of the analysis.
fn sort<T>(
    by: Sort,
    rows: &mut [Row<'_, T>],
    times: impl Fn(&T) -> Times,
    max_ns: impl Fn(&T) -> Option<u64>,
) {
    match by {
        Sort::Own => rows.sort_by_key(|row| Reverse(times(&row.value).self_ns)),
        Sort::Total => rows.sort_by_key(|row| Reverse(times(&row.value).total_ns)),
        Sort::Calls => rows.sort_by_key(|row| Reverse(times(&row.value).calls)),
        Sort::Max => rows.sort_by_key(|row| Reverse(max_ns(&row.value))),
        Sort::Name => rows.sort_by_cached_key(|row| row.function.map(|it| it.to_string())),
    }
}

/// Returns the functions in these pairs that match a pattern, in the order of the pairs in which
/// they first occur.
fn matching(process: &TimedProcess, pairs: &[Pair], pattern: &Pattern) -> Vec<u64> {
    let mut seen = BTreeSet::new();
    let ids = pairs
        .iter()
        .flat_map(|pair| [Some(pair.callee), pair.caller]);
    let ids = ids.flatten().filter(|id| seen.insert(*id));
    ids.filter(|id| pattern.fits(&process.function(*id)))
        .collect()
}

fn complain_if_none<T>(functions: &[T], pattern: &Pattern) {
    if functions.is_empty() {
        complain(format_args!("no function matches {pattern}"));
    }
}

/// Returns the nodes above a depth that have at least a minimum share of the total time, as do all
/// their ancestors.
fn branches<'p>(
    process: &'p TimedProcess,
    nodes: &[Node],
    depth: u32,
    min_percent: f64,
) -> (Vec<Row<'p, Node>>, Cut) {
    let outermost = nodes.iter().filter(|node| node.depth == 0);
    let all_ns: u128 = outermost.map(|node| u128::from(node.times.total_ns)).sum();
    let least_ns = all_ns as f64 * min_percent / 100.0;
    let (mut rows, mut cut) = (Vec::new(), Cut::default());
    let mut hidden_below = u32::MAX;
    for node in nodes {
        if node.depth > hidden_below {
            cut.rows += 1;
            continue;
        }
        hidden_below = u32::MAX;
        let is_small = (node.times.total_ns as f64) < least_ns;
        if node.depth >= depth || is_small {
            cut.rows += 1;
            hidden_below = node.depth;
            continue;
        }
        let function = node.function_id.map(|id| process.function(id));
        let value = *node;
        rows.push(Row { function, value });
    }
    (rows, cut)
}
