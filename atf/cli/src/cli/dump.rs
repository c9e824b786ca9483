//! `dump`: writes the events of a trace.

use std::path::PathBuf;
use std::time::Duration;

use atf::symbols::Pattern;

use super::selection::{ClockOption, thread_id};
use crate::dump::{Dump, Form, Kind, What};
use crate::output::Outcome;
use crate::recordings::or_newest;
use crate::time::{Time, parse_span};

const AFTER_HELP: &str = "\
A session's events are merged by (timestamp, thread, seq). Events of two threads with the same
timestamp are ordered by thread; that does not mean one happened first. A thread whose time goes
back keeps its own order.

TIME is in nanoseconds of the trace's clock, or has a unit: 1000250000000, 1000.25s. With a + it
counts from the first event: +1.5ms, +250us, +700; with a - back from the last one: -10ms. --from
and --to are inclusive.
FUNCTION is a function_id (0x06444fc100000001), =NAME for an exact name, a pattern with * and ? for
the whole name, or a part of a name. Names come from manifest.json or --symbols.
Repeating --thread, --kind or --function selects more events; different filters select fewer.

--clock media gives the times of the sound or screen recording that a session's timing anchors align
it with, in --from and --to too. Text then shows the recording's own seconds, without a +. Sessions
without anchors, or with events before the recording's start, are refused, as by `atf export`; so is
--follow, since anchors may be added until the end. Processes stay in the order of the trace's
clock.

Text: seconds since the first event, thread, seq, kind, call depth, function, link to a detail
event; of a detail.atf on its own, what its details repeat of that. Terminal control characters in
names are escaped. A name longer than 4096 bytes is truncated to 4096 bytes, followed by its length
(in JSON function_length).
JSON lines: 64-bit numbers and links are decimal strings, a missing link is null, enumerations are
numbers, bytes are hexadecimal, and fields that the wire version lacks are omitted. The fields of
a call are as recorded. thread is the id in the folder's name, function the name in the manifest.

--spans lists calls thread by thread, each when it ends, indented by depth: start, duration, thread,
position of the call, function. Times are those of `atf report`: if a thread's time goes back, its
clock stands still until the time is later again, and a single time that is too great is replaced by
the next event's. --from and --to keep calls that overlap them; a call that is open at the end of a
finalized thread lasts until the thread's last event. In JSON, end is return, exception,
not_returned (an outer call ended), open (at the end of the trace), given_up (too many open calls),
interrupted (a segment is missing), or unmatched (a return without a call).

--calls lists the same calls in the order in which they started. A call that made others has two
lines, `name {` at its start and `} name` at its end, with its duration, and their lines between.

Memory: 64 MiB for the threads' buffers, 4 KiB per thread beyond 16,384, the events that a ring.atf
adds (at most 32 MiB per thread), and the manifest's names. --details adds 8 bytes per detail event
of the 48 threads whose details were used last; a trace that switches between more threads rereads
their files. --spans and --calls read one thread at a time and track at most 262,144 open calls.
--last takes 64 bytes per event, and 80 per call. With more than 128 threads, no index file stays
open.

--last applies to each thread and reads it from its end, so it shows the last events of a crashed
thread even if others kept running. --spans ends with the calls that were open at the end of each
thread.
If PATH is a thread's folder in a session, names and the first time are the session's.

With --follow, files may still be growing or not exist yet. Each event is written once it is
certain, until the files are finalized. PATH is a file, a thread's folder, a session or a folder
with the segments of one process. A session's threads are not merged. When all threads present are
finalized, a session goes on with the next segment beside it (`atf record --segment`), if there is
one, and else the command ends; a thread's folder or a file ends with its events.
Times in text and after + count from the first event received. Events that a tracer has not flushed
are not visible; if it died, stop the command and dump its files. `atf record` replaces the session
of a killed program with a recovered copy: its remaining events are written, and the thread ends.
Links to lost details are found only with --details. Memory: 128 KiB per thread.

A folder with the sessions of several processes, pid_N side by side, is merged as one trace, since
they share the machine's clock. Threads are then written as PID/ID; JSON has the key process. The
segments of a process are also merged: seq and open calls continue from segment to segment.

All events are verified as they are read. Problems are written to standard error, one per line,
after all events that can be read: a checksum mismatch, an unfinalized or damaged file, a gap,
links to lost details, a manifest that cannot be trusted, a folder name without a thread id. A
partial dump (--from, --to, --last, --limit) reports that no checksum was compared. Details are read
only with --details. `atf info` reports damage inside a finalized detail.atf.

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
        what: match (options.spans, options.calls) {
            (true, _) => What::Spans,
            (false, true) => What::Calls,
            (false, false) => What::Events,
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
