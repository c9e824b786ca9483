//! `report`: shows where the time of a trace went.

use std::path::PathBuf;

use atf_analyze::Pattern;

use super::csv::CsvOption;
use crate::output::Outcome;
use crate::recordings::or_newest;
use crate::report::{Form, Report, Sort, View};
use crate::time::Time;
use crate::trace::{ClockOption, thread_id};

const AFTER_HELP: &str = "\
FUNCTION and TIME are as for `atf dump`. A call that overlaps --from or --to counts with the part of
its time within the range. A call that no event ended lasts until its thread's last event; it is
counted as open, and ≥ marks a total that may be longer.

Problems are part of the output; with --json and --csv they are also written to standard error.
docs/commands.md explains the columns, forms and limits.

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
    /// Sort by this [default: self; total for --callers and --callees]
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
        form: Form::new(options.json, options.csv.formulas()),
    };
    report.run()
}

/// Parses a percentage.
fn percent(text: &str) -> Result<f64, String> {
    let percent = text.strip_suffix('%').unwrap_or(text).parse().ok();
    let percent = percent.filter(|percent| (0.0..=100.0).contains(percent));
    percent.ok_or_else(|| "expected a number from 0 to 100".to_owned())
}
