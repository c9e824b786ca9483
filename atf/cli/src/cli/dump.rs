//! `dump`: the events of a trace.

use std::path::PathBuf;
use std::time::Duration;

use crate::dump::{Dump, Form, Kind, Pattern, Time, What, parse_span};
use crate::output::Outcome;

const AFTER_HELP: &str = "\
A session's events come merged by (timestamp, thread, seq). Events of two threads with the same
timestamp come in the order of their threads, which says nothing of what happened first. A thread
whose time goes back keeps its own order.

TIME is of the trace's clock, nanoseconds or with a unit: 1000250000000, 1000.25s; behind a + it
counts from the first event: +1.5ms, +250us, +700. --from and --to include the times they name.
FUNCTION is a function_id (0x06444fc100000001); =NAME for that name; a pattern with * and ? for a
whole name; or a piece of a name. Names are those of manifest.json, or of --symbols.
Several --thread, --kind or --function widen what is shown; different filters narrow it.

Text: seconds from the first event, thread, seq, kind, call depth, function, link to a detail
event. Names from a file are written with escapes for whatever could steer a terminal.
Of a name longer than 4096 bytes each line has the first 4096, and its length (in JSON
function_length).
JSON lines: numbers of 64 bits and links are decimal strings, no link is null, enumerations are
numbers, bytes are hexadecimal, and a field that the wire version lacks is left out. thread is the
id in the folder's name, function a name that the manifest has.

With --spans calls come thread by thread, each when it ends, set in by its depth: start, duration,
thread, position of the call, function. --from and --to leave those that overlap. In JSON end is
return, exception, not_returned (a call around it ended), open (at the end of the trace),
given_up, or unmatched for a return without a call.

Memory: 64 MiB for the threads' buffers, 4 KiB for each thread beyond 16,384, and the manifest's
names. With --details also 8 bytes for each detail event of the 48 threads whose details were used
last; a trace that goes to and fro between more than these reads their files anew. With --spans
one thread at a time, and 262,144 open calls at most. With --last 64 bytes per event. With more
than 128 threads no index file stays open.

--last is per thread, and reads each thread from its end, so that the last events of one that
crashed are there, whatever the others did later. --spans ends with the calls that were open at the
end of each thread. A thread's folder in a session has the session's names
and first time.

With --follow the files may still be growing, or not be there yet: each event is written once it
is certain, until they are finalized. PATH is a file, a thread's folder or a session. A session's
threads come as they come, not merged; it ends once all threads that it then has are finalized.
Text and + count from the first event that comes. What a tracer has not flushed is not seen; if it
has died, end the command and dump what it left. Memory: 128 KiB for each thread.

A folder with the sessions of several processes, pid_N side by side, is merged as one trace, since
the clock is the machine's: a thread is then written as PID/ID, in JSON with the key process.

All events are verified as they are read. What is wrong is written to standard error, a line for
each problem, after everything that can be read: a checksum mismatch, an unfinalized or damaged
file, a gap, links to lost details, a manifest that cannot be believed, a folder without a thread's
id. A dump of a part (--from, --to, --last, --limit) says that no checksum was compared.

Exit status: 0, also if no event matches; 1 there is such a problem; 2 usage, or a path that could
not be read.

Example:
  $ atf dump --from +1ms --to +2ms --function 'parse*' session_20260105_101500/pid_4242";

/// Options of `dump`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Options {
    /// A session, a folder with one session below it, a thread's folder, or a file
    path: PathBuf,
    /// Only events of this thread
    #[arg(long, value_name = "ID", value_parser = thread_id)]
    thread: Vec<u32>,
    /// Only events at this time or later
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    from: Option<Time>,
    /// Only events at this time or earlier
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    to: Option<Time>,
    /// Only events of these functions
    #[arg(long, value_name = "FUNCTION")]
    function: Vec<Pattern>,
    /// Only events of this kind: call, return, exception, or its number
    #[arg(long, value_name = "KIND")]
    kind: Vec<Kind>,
    /// Stop after so many events
    #[arg(long, value_name = "COUNT")]
    limit: Option<u64>,
    /// Only the last so many events of each thread
    #[arg(long, value_name = "COUNT", conflicts_with_all = ["limit", "follow"])]
    last: Option<usize>,
    /// Write calls with their durations instead of events
    #[arg(long, conflicts_with_all = ["kind", "details"])]
    spans: bool,
    /// Write each event's details: registers and stack
    #[arg(long)]
    details: bool,
    /// Take names of functions from this manifest
    #[arg(long, value_name = "MANIFEST")]
    symbols: Option<PathBuf>,
    /// Write events of files that are still being written, as they come
    #[arg(long, conflicts_with = "spans")]
    follow: bool,
    /// How long --follow waits between looks
    #[arg(long, value_name = "SPAN", default_value = "200ms", requires = "follow", value_parser = parse_span)]
    interval: Duration,
    /// Write JSON lines
    #[arg(long)]
    json: bool,
}

pub(super) fn run(options: &Options) -> Outcome {
    let dump = Dump {
        path: &options.path,
        what: match options.spans {
            true => What::Spans,
            false => What::Events,
        },
        threads: &options.thread,
        from: options.from,
        to: options.to,
        functions: &options.function,
        kinds: &options.kind,
        last: options.last,
        limit: options.limit.unwrap_or(u64::MAX),
        details: options.details,
        symbols: options.symbols.as_deref(),
        form: match options.json {
            true => Form::Json,
            false => Form::Text,
        },
        follow: options.follow.then_some(options.interval),
    };
    dump.run()
}

/// A thread's id, or the name of its folder.
fn thread_id(text: &str) -> Result<u32, String> {
    let id = text.strip_prefix("thread_").unwrap_or(text).parse();
    id.map_err(|_| "expected a thread's id or its folder's name: 1, thread_1".to_owned())
}
