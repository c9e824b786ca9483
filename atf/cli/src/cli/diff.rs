//! `diff`: compares runs of a program.

use std::path::PathBuf;
use std::slice;
use std::time::Duration;

use super::csv::CsvOption;
use crate::diff::{Comparison, Paths};
use crate::output::{Failure, Outcome};
use crate::report::Form;
use crate::time::parse_span;
use crate::trace::ClockOption;

const AFTER_HELP: &str = "\
Functions are matched by name and by the file name of their module. A PATH is a session, the folder
of a run with several processes or segments, or a folder of several sessions, which are several
runs. With several runs on a side, change, total times and calls are those of medians.

A function is left out as noise if its calls and its self time differ by at most --noise percent
or, with several runs on a side, if the ranges of both sides overlap. docs/commands.md explains this
and the forms. Damaged or missing data causes differences: compare such runs with care.

Exit status: 0, whether or not anything changed; 1 something is damaged or missing, but not for
events that the manifest counts as lost or unwritten; 2 usage, or a path that could not be read.

Example:
  $ atf diff --limit 3 samples/sample-small samples/sample-crashed";

/// Options of `diff`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Options {
    /// The traces of one run before and one run after a change
    #[arg(value_name = "PATH", conflicts_with_all = ["before", "after"], required_unless_present_all = ["before", "after"])]
    paths: Vec<PathBuf>,
    /// The traces of runs before a change
    #[arg(long, value_name = "PATH", num_args = 1.., requires = "after")]
    before: Vec<PathBuf>,
    /// The traces of runs after it
    #[arg(long, value_name = "PATH", num_args = 1.., requires = "before")]
    after: Vec<PathBuf>,
    /// With one run on each side, leave out functions that differ by at most this much
    #[arg(long, value_name = "PERCENT", default_value_t = 50, value_parser = percent)]
    noise: u32,
    /// Leave out functions whose self time changed by less than this
    #[arg(long, value_name = "SPAN", value_parser = parse_span)]
    min_change: Option<Duration>,
    /// Show functions that differ only by noise as well
    #[arg(long)]
    all: bool,
    /// Show this many functions; 0 for all
    #[arg(long, value_name = "COUNT", default_value_t = 20)]
    limit: usize,
    #[command(flatten)]
    clock: ClockOption,
    /// Take the names of functions before the change from this manifest
    #[arg(long, value_name = "MANIFEST")]
    before_symbols: Option<PathBuf>,
    /// Take the names of functions after the change from this manifest
    #[arg(long, value_name = "MANIFEST")]
    after_symbols: Option<PathBuf>,
    /// Write a JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    csv: CsvOption,
}

pub(super) fn run(options: &Options) -> Outcome {
    let (before, after) = match &options.paths[..] {
        [] => (&options.before[..], &options.after[..]),
        [before, after] => (slice::from_ref(before), slice::from_ref(after)),
        paths => {
            let count = paths.len();
            let how = "for several runs, use --before and --after";
            return Err(Failure::Usage(format!(
                "expected 2 paths, found {count}; {how}"
            )));
        }
    };
    let comparison = Comparison {
        before: Paths {
            paths: before,
            symbols: options.before_symbols.as_deref(),
        },
        after: Paths {
            paths: after,
            symbols: options.after_symbols.as_deref(),
        },
        clock: options.clock.clock,
        noise_percent: options.noise,
        min_change_ns: match options.min_change {
            Some(span) => u64::try_from(span.as_nanos()).unwrap_or(u64::MAX),
            None => 0,
        },
        limit: match options.limit {
            0 => usize::MAX,
            limit => limit,
        },
        all: options.all,
        form: Form::new(options.json, options.csv.formulas()),
    };
    comparison.run()
}

/// Parses a percentage.
fn percent(text: &str) -> Result<u32, String> {
    let percent = text.strip_suffix('%').unwrap_or(text).parse().ok();
    let percent = percent.filter(|percent| (0..100).contains(percent));
    percent.ok_or_else(|| "expected a whole number from 0 to 99".to_owned())
}
