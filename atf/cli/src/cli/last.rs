//! `last`: shows what was running when a trace ended.

use std::path::PathBuf;
use std::time::Duration;

use crate::last::Ends;
use crate::output::Outcome;
use crate::recordings::or_newest;
use crate::time::parse_span;
use crate::trace::{ClockOption, thread_id};

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
    /// Only this thread
    #[arg(long, value_name = "ID", value_parser = thread_id)]
    thread: Vec<u32>,
    /// Show this many threads in full; --thread shows the given ones in full
    #[arg(long, value_name = "COUNT", default_value_t = 3)]
    limit: usize,
    /// Show this many last events per thread
    #[arg(long, value_name = "COUNT", default_value_t = 5)]
    events: usize,
    /// Show all events of this long before the last event of all threads, instead of a number
    #[arg(long = "for", value_name = "SPAN", value_parser = parse_span, conflicts_with = "events")]
    span: Option<Duration>,
    /// Show this many open calls per thread: the innermost ones
    #[arg(long, value_name = "COUNT", default_value_t = 15)]
    calls: usize,
    #[command(flatten)]
    clock: ClockOption,
    /// Take function names from this manifest
    #[arg(long, value_name = "MANIFEST")]
    symbols: Option<PathBuf>,
    /// Write JSON lines
    #[arg(long)]
    json: bool,
}

pub(super) fn run(options: &Options) -> Outcome {
    let ends = Ends {
        paths: &or_newest(&options.paths)?,
        threads: &options.thread,
        events: options.events,
        span: options.span,
        calls: options.calls,
        limit: options.limit,
        clock: options.clock.clock,
        symbols: options.symbols.as_deref(),
        json: options.json,
    };
    ends.run()
}
