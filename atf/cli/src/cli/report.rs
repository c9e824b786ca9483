//! `report`: shows where the time of a trace went.

use std::path::PathBuf;

use atf::symbols::Pattern;

use super::selection::{ClockOption, CsvOption, thread_id};
use crate::output::Outcome;
use crate::recordings::or_newest;
use crate::report::{Form, Report, Sort, View};
use crate::time::Time;

const AFTER_HELP: &str = "\
A function's self time is the time in which one of its calls was the innermost open one; its total
time also includes what it called; % is the share of its self time in those of all functions, in a
tree that of a node's total time. Recursive calls count once in the total. Each thread is analysed
separately and the times are added up, so with several threads they can exceed the trace's duration.
Min, median, p99 and max are those of single calls, including the calls that they made; median and
p99 are within 1.6 %.

A call that no event ended, because the program crashed or was still running, lasts until its
thread's last event. It is counted as open and excluded from min, median, p99 and max. If a signal
ended the process, and no event of the thread can be missing, the call lasts at least until the
process's last event: its total has the mark ≥, and at_least counts it in JSON and CSV. A return
without a call is counted as well: its call came before the trace began, or was lost. If a thread's
time goes back, its clock stands still until the time is later again; a single time that is too
great is replaced by the next event's.

--from and --to are inclusive; TIME is as for `atf dump`. A call that overlaps the range counts with
the part of its time that lies within the range. With --clock media, these and all other times and
durations are those of the recording that the session's timing anchors name, as for `atf export`.
FUNCTION is a function_id (0x06444fc100000001), =NAME for an exact name, a pattern with * and ? for
the whole name, or a part of a name. --callers, --callees and --histogram have a table per function
that matches.

--histogram counts calls by their durations, without open calls. A row spans a power of two; with
--json and --csv, a 32nd of one. The limits of rows are the same in every trace.

--tree merges equal stacks of callers, over all threads. Nodes with less than --min-percent of the
time in the tree are left out with all nodes below them.

Names come from manifest.json or --symbols.
If PATH is a folder with several sessions or processes, each gets its own table. The segments of a
process (`atf record --segment`), in a folder or as several paths, are one trace: a call may begin
in one segment and return in a later one. If a segment between two others is missing, calls end
before it, as open calls.

JSON lines: an object per session, with --by-thread per thread. 64-bit numbers are decimal strings.
The rows of a tree have a depth, and each follows its parent.
CSV: a line per row, all sessions in one table; times in nanoseconds. The last column, `note`, is
for rows without numbers, on open calls, losses and damage. To open CSV in a spreadsheet, add
--escape-formulas: names and paths come from the traced program.

All events are verified as they are read. Problems are part of the output, in which text lists at
most 20 per table; with --json and --csv they are also written to standard error.
Details are not read: damage inside a finalized detail.atf is reported by `atf info`.

Memory: 8 bytes per line of all histograms as CSV, at most 2 million of them. For more, the ranges
become wider, median and p99 less precise, and a note says so. Functions take 350 bytes each, pairs
150; 524,288 functions and a million pairs are told apart. With --by-thread, 131,072 functions and
262,144 lines are, for each core. Open calls take 28 MB per core for 262,144. If more are open, the
outermost are given up and counted, and the exit status is 1. A tree has at most a million nodes of
110 bytes, and 120 more per node that is shown. Threads that are being read add 20 MB. Beyond a
limit, the rest are combined in one row.

Exit status: 0; 1 something is damaged or missing, such as the end of an unfinalized file, or what a
recovery lost, but not for events that the manifest counts as lost or unwritten; 2 usage, or a path
that could not be read.

Example:
  $ atf report --limit 5 samples/sample-small";

/// Options of `report`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Options {
    /// A file, a thread's folder, a session or a folder with sessions below it; or several sessions
    /// [default: the newest recording in or below the current folder]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Sort by this; self by default, total for --callers and --callees
    #[arg(long, value_name = "KEY", conflicts_with = "tree")]
    sort: Option<Sort>,
    /// Show this many functions per table; 0 for all
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 20,
        conflicts_with = "tree"
    )]
    limit: usize,
    /// Only this thread
    #[arg(long, value_name = "ID", value_parser = thread_id)]
    thread: Vec<u32>,
    /// Only the time from here on
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    from: Option<Time>,
    /// Only the time up to here
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    to: Option<Time>,
    #[command(flatten)]
    clock: ClockOption,
    /// Write a table per thread
    #[arg(long)]
    by_thread: bool,
    /// Show the call tree
    #[arg(long)]
    tree: bool,
    /// How deep the tree is shown
    #[arg(long, value_name = "COUNT", requires = "tree")]
    depth: Option<u32>,
    /// Leave out nodes with a smaller share of the tree's time
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0, requires = "tree", value_parser = percent)]
    min_percent: f64,
    /// Show who calls this function
    #[arg(long, value_name = "FUNCTION", conflicts_with_all = ["tree", "callees"])]
    callers: Option<Pattern>,
    /// Show what this function calls
    #[arg(long, value_name = "FUNCTION", conflicts_with = "tree")]
    callees: Option<Pattern>,
    /// Show how long the calls of this function take
    #[arg(long, value_name = "FUNCTION", conflicts_with_all = ["tree", "callers", "callees"])]
    histogram: Option<Pattern>,
    /// Take function names from this manifest
    #[arg(long, value_name = "MANIFEST")]
    symbols: Option<PathBuf>,
    /// Write JSON lines
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    csv: CsvOption,
}

pub(super) fn run(options: &Options) -> Outcome {
    let view = if let Some(function) = &options.callers {
        View::Callers(function.clone())
    } else if let Some(function) = &options.callees {
        View::Callees(function.clone())
    } else if let Some(function) = &options.histogram {
        View::Histogram(function.clone())
    } else if options.tree {
        View::Tree {
            depth: options.depth.unwrap_or(u32::MAX),
            min_percent: options.min_percent,
        }
    } else {
        View::Functions
    };
    let sort = match view {
        View::Functions | View::Tree { .. } | View::Histogram(_) => Sort::Own,
        View::Callers(_) | View::Callees(_) => Sort::Total,
    };
    let report = Report {
        paths: &or_newest(&options.paths)?,
        view,
        sort: options.sort.unwrap_or(sort),
        limit: match options.limit {
            0 => usize::MAX,
            limit => limit,
        },
        threads: &options.thread,
        from: options.from,
        to: options.to,
        clock: options.clock.clock,
        by_thread: options.by_thread,
        symbols: options.symbols.as_deref(),
        form: Form::of(options.json, options.csv.formulas()),
    };
    report.run()
}

/// Parses a percentage.
fn percent(text: &str) -> Result<f64, String> {
    let percent = text.strip_suffix('%').unwrap_or(text).parse().ok();
    let percent = percent.filter(|percent| (0.0..=100.0).contains(percent));
    percent.ok_or_else(|| "expected a number from 0 to 100".to_owned())
}
