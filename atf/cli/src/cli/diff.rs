//! `diff`: compares runs of a program.

use crate::diff::Comparison;
use crate::output::Outcome;

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
    #[command(flatten)]
    comparison: Comparison,
}

pub(super) fn run(options: &Options) -> Outcome {
    options.comparison.run()
}
