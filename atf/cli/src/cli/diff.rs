//! `diff`: compares runs of a program.

use std::path::PathBuf;
use std::slice;
use std::time::Duration;

use super::selection::{ClockOption, CsvOption};
use crate::diff::{Comparison, Paths};
use crate::output::{Failure, Outcome};
use crate::report::Form;
use crate::time::parse_span;

const AFTER_HELP: &str = "\
Functions are matched by name and by the file name of their module, because ids differ between
builds. A function without a name is matched by its id. Functions with the same name in one module
are added up.
Times are as in `atf report`; with --clock media, they are those of each run's own recording. The
function whose self time changed most is first. The first line has the sums of all self times.

A PATH may be a session, which is one run; the folder of a run with several processes, which are
added up; the folder of a run's segments; or a folder of several sessions, which are several runs.
With several runs on a side, self times are shown from least to greatest; change, total times and
calls are those of medians.

A function is left out as noise if its calls and its self time differ no more than they may between
runs of the same program:
- With several runs on a side: the ranges of both sides overlap. The output states how often ranges
  are apart by chance: of 2 and 2 runs in 2 of 6 functions that did not change, of 5 and 5 in 2 of
  252. That is for one function: a disturbance during a run can affect all of its functions.
- With one run on each side: they differ by at most --noise percent of the greater value. One run
  does not tell how much runs vary, so this is an assumption. Of an unchanged program on a busy
  machine, half of the functions differed by more than 28 percent, a fifth by more than 50.

JSON: one object; 64-bit numbers are decimal strings. CSV: a line per function; times in
nanoseconds. A row's state is changed, appeared, vanished or noise. The last column of CSV, `note`,
is for rows without a function, on open calls, losses and damage.

All events are verified as they are read. Problems are part of the output, in which text lists at
most 20 per run; with --json and --csv they are also written to standard error.
Details are not read: damage inside a finalized detail.atf is reported by `atf info`.
Damaged or missing data causes differences: compare such runs with care.

Memory: as for `atf report`, and about 300 bytes per function and run. 262,144 functions of each
process are told apart; the rest are combined in one row.

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
        form: Form::of(options.json, options.csv.formulas()),
    };
    comparison.run()
}

/// Parses a percentage.
fn percent(text: &str) -> Result<u32, String> {
    let percent = text.strip_suffix('%').unwrap_or(text).parse().ok();
    let percent = percent.filter(|percent| (0..100).contains(percent));
    percent.ok_or_else(|| "expected a whole number from 0 to 99".to_owned())
}
