//! `dump`: writes the events of a trace.

use std::path::PathBuf;

use crate::dump::Dump;
use crate::output::Outcome;
use crate::recordings::or_newest;

const AFTER_HELP: &str = "\
TIME is in nanoseconds of the trace's clock, or has a unit: 1000250000000, 1000.25s. With a + it
counts from the first event: +1.5ms, +700; with a - back from the last one: -10ms. --from and --to
are inclusive.
FUNCTION is a function_id (0x06444fc100000001), =NAME for an exact name, a pattern with * and ? for
the whole name, or a part of a name. Repeating a filter selects more, different ones select fewer.

Text: seconds since the first event, thread, seq, kind, call depth, function, link to a detail
event; with --spans: start, duration, thread, position of the call, function. Problems are written
to standard error after all events that can be read. docs/commands.md explains the forms and
--follow.

Exit status: 0, even if no event matches; 1 such a problem was found, but not for events that the
manifest counts as lost or unwritten; 2 usage, or a path that could not be read.

Example:
  $ atf dump --from +1ms --to +2ms --function 'parse*' session_20260105_101500/pid_4242";

/// Options of `dump`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Options {
    /// A session, a folder with one session below it, a thread's folder or a file; or several sessions
    /// [default: the newest recording in or below the current folder]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    dump: Dump,
}

pub(super) fn run(options: &Options) -> Outcome {
    options.dump.run(&or_newest(&options.paths)?)
}
