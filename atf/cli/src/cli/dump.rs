//! `dump`: writes the events of a trace.

use std::path::PathBuf;
use std::time::Duration;

use atf_analyze::Pattern;

use crate::dump::{Dump, Form, Items, Kind};
use crate::output::Outcome;
use crate::recordings::or_newest;
use crate::time::{Time, parse_span};
use crate::trace::{ClockOption, thread_id};

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
    /// Only events of this thread
    #[arg(long, value_name = "ID", value_parser = thread_id)]
    thread: Vec<u32>,
    /// Only events at this time or later
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    from: Option<Time>,
    /// Only events at this time or earlier
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    to: Option<Time>,
    #[command(flatten)]
    clock: ClockOption,
    /// Only events of these functions
    #[arg(long, value_name = "FUNCTION")]
    function: Vec<Pattern>,
    /// Only events of this kind: call, return, exception, or its number
    #[arg(long, value_name = "KIND")]
    kind: Vec<Kind>,
    /// Stop after this many events
    #[arg(long, value_name = "COUNT")]
    limit: Option<u64>,
    /// Only this many last events of each thread
    #[arg(long, value_name = "COUNT", conflicts_with_all = ["limit", "follow"])]
    last: Option<usize>,
    /// Write calls with their durations instead of events
    #[arg(long, conflicts_with_all = ["kind", "details"])]
    spans: bool,
    /// Write calls in the order in which they started, with braces around inner calls
    #[arg(long, conflicts_with_all = ["spans", "kind", "details", "follow", "json"])]
    calls: bool,
    /// Also write each event's detail: registers and stack, or fields
    #[arg(long)]
    details: bool,
    /// Take function names from this manifest
    #[arg(long, value_name = "MANIFEST")]
    symbols: Option<PathBuf>,
    /// Write the events of files that are still being written, as they arrive
    #[arg(long, conflicts_with = "spans")]
    follow: bool,
    /// How long --follow waits between polls
    #[arg(long, value_name = "SPAN", default_value = "200ms", requires = "follow", value_parser = parse_span)]
    interval: Duration,
    /// Write JSON lines
    #[arg(long)]
    json: bool,
}

pub(super) fn run(options: &Options) -> Outcome {
    let dump = Dump {
        paths: &or_newest(&options.paths)?,
        items: match (options.spans, options.calls) {
            (true, _) => Items::Spans,
            (false, true) => Items::Calls,
            (false, false) => Items::Events,
        },
        threads: &options.thread,
        from: options.from,
        to: options.to,
        clock: options.clock.clock,
        functions: &options.function,
        kinds: &options.kind,
        last: options.last,
        limit: options.limit.unwrap_or(u64::MAX),
        details: options.details,
        symbols: options.symbols.as_deref(),
        form: if options.json { Form::Json } else { Form::Text },
        follow: options.follow.then_some(options.interval),
    };
    dump.run()
}
