//! `last`: shows what was running when a trace ended.

use std::path::PathBuf;

use crate::last::Ends;
use crate::output::Outcome;
use crate::recordings::or_newest;

const AFTER_HELP: &str = "\
For a crashed or killed program: shows, per thread, how and when its file ended (finalized, or
died), the calls that were open, and the last events, also those that a killed tracer left only in
ring.atf. Threads that died come first, and of those the one that ended last; after a crash, that is
usually the thread that crashed. Times count from the first event, in seconds.

Problems are part of the output; with --json they are also written to standard error.
docs/commands.md explains the columns and limits.

Exit status: 0; 1 something is damaged or missing, such as the end of an unfinalized file, but not
for events that the manifest counts as lost or unwritten; 2 usage, or a path that could not be read.

Example:
  $ atf last --thread 1 --for 10us samples/sample-crashed";

/// Options of `last`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Options {
    /// A file, a thread's folder, a session or a folder with sessions below it; or several sessions
    /// [default: the newest recording in or below the current folder]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    ends: Ends,
}

pub(super) fn run(options: &Options) -> Outcome {
    options.ends.run(&or_newest(&options.paths)?)
}
