//! `report`: shows where a trace spent its time.

use std::path::PathBuf;

use crate::output::Outcome;
use crate::recordings::or_newest;
use crate::report::Report;

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
    #[command(flatten)]
    report: Report,
}

pub(super) fn run(options: &Options) -> Outcome {
    options.report.run(&or_newest(&options.paths)?)
}
