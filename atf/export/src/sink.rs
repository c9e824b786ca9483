//! The trait that all formats implement, and the data they receive.

use std::fmt;
use std::io;

use atf::detail::FunctionPayload;
use atf::spans::{Depth, SpanEnd};
use atf::symbols::Function;

/// An output format: a sink that receives the calls of a trace and writes them. `'a` is the
/// lifetime of the names.
///
/// The functions are called in this order: [`start`](Self::start); for each process
/// [`process`](Self::process), the functions for its threads, and
/// [`process_end`](Self::process_end); then [`finish`](Self::finish). For each thread:
/// [`thread`](Self::thread), the functions for its calls, and [`thread_end`](Self::thread_end). The
/// calls of a thread are properly nested, and times never decrease. Each call that starts also
/// ends.
///
/// Every function returns any error from writing its output.
#[expect(clippy::missing_errors_doc, reason = "described once, above")]
pub trait Sink<'a> {
    /// Returns whether calls should include their [`detail`](Start::detail), which costs time.
    fn wants_details(&self) -> bool {
        false
    }

    /// Starts the trace.
    fn start(&mut self, trace: &TraceInfo) -> io::Result<()>;

    /// Starts a process.
    fn process(&mut self, process: &ProcessInfo) -> io::Result<()>;

    /// Starts a thread of the current process.
    fn thread(&mut self, thread: &Thread) -> io::Result<()>;

    /// Receives the start of a call in the current thread.
    fn call_start(&mut self, call: &Start<'a>) -> io::Result<()>;

    /// Receives the end of the thread's innermost open call.
    fn call_end(&mut self, call: &End<'a>) -> io::Result<()>;

    /// Receives a return from a function that had no open call. By default, only the notes at the
    /// end of the thread count these.
    fn unmatched(&mut self, _function: Function<'a>, _time_ns: u64) -> io::Result<()> {
        Ok(())
    }

    /// Ends the current thread.
    fn thread_end(&mut self, end: &ThreadEnd<'_>) -> io::Result<()>;

    /// Ends the current process, with notes on anything missing outside its threads.
    fn process_end(&mut self, notes: &[String]) -> io::Result<()>;

    /// Ends the output.
    fn finish(&mut self) -> io::Result<()>;
}

/// The facts that are known before the first thread is read.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct TraceInfo {
    /// The time of the first event in nanoseconds: the origin of relative times.
    pub start_ns: u64,
    /// The time range, inclusive; `None` for all times. It extends to the end if its second time is
    /// [`u64::MAX`].
    pub range_ns: Option<(u64, u64)>,
}

impl TraceInfo {
    /// Describes the time range.
    pub(crate) fn range(&self) -> Option<String> {
        self.range_ns.map(|(from_ns, to_ns)| match to_ns {
            u64::MAX => format!("from {from_ns} ns to the end"),
            _ => format!("from {from_ns} to {to_ns} ns"),
        })
    }

    /// Returns the earliest time that can be in the output. A note at this time does not widen the
    /// range that a viewer shows.
    pub(crate) fn first_ns(&self) -> u64 {
        let from_ns = self.range_ns.map_or(0, |(from_ns, _)| from_ns);
        self.start_ns.max(from_ns.min(LATEST_NS))
    }
}

/// The latest time in nanoseconds that an export contains. Perfetto's times are signed, and so are
/// those of most programs that read CSV.
pub(crate) const LATEST_NS: u64 = i64::MAX.cast_unsigned();

/// A process.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ProcessInfo {
    /// The process's id or, if the trace does not contain it, the process's position, counted from
    /// 1.
    pub pid: u32,
    /// The process's name.
    pub name: String,
    /// Facts about the session, as keys and values.
    pub facts: Vec<(String, String)>,
}

/// A thread.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Thread {
    /// The [id](ProcessInfo::pid) of the thread's process.
    pub pid: u32,
    /// The thread's position among all threads of the export, counted from 1. Formats use it as the
    /// thread's id, because ATF's ids start at 0, which some tools treat as the idle thread.
    pub number: u32,
    /// The id in the thread folder's name.
    pub id: u32,
    /// The thread's name in the manifest.
    pub name: Option<String>,
}

impl fmt::Display for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{name} (thread {})", self.id),
            None => write!(f, "thread {}", self.id),
        }
    }
}

/// The detail of a call.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Detail {
    /// Registers and stack.
    Function(FunctionPayload),
    /// [Fields](atf::detail::fields): a JSON object.
    Fields(String),
}

/// The start of a call.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Start<'a> {
    /// The called function.
    pub function: Function<'a>,
    /// The time of the call's start, in nanoseconds of the trace's clock.
    pub start_ns: u64,
    /// The detail of the call's start, if there is one and details are
    /// [requested](Sink::wants_details).
    pub detail: Option<Detail>,
}

/// The end of a call.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct End<'a> {
    /// The called function.
    pub function: Function<'a>,
    /// The time of the call's start in nanoseconds.
    pub start_ns: u64,
    /// The time of the call's end in nanoseconds. If no event ended the call, the time of the last
    /// event of the thread or, with `is_minimum`, of the process.
    pub end_ns: u64,
    /// Whether the call, which was not ended by an event, lasts at least until `end_ns`: see
    /// [`Times::at_least`](atf_analyze::Times::at_least).
    pub is_minimum: bool,
    /// How long the call was the innermost open one, in nanoseconds.
    pub self_ns: u64,
    /// The call's depth among the open calls.
    pub depth: Depth,
    /// How the call ended.
    pub end: SpanEnd,
    /// The detail of the call's end, if there is one and details are
    /// [requested](Sink::wants_details).
    pub detail: Option<Detail>,
}

impl End<'_> {
    /// Returns whether an event ended the call.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.end.is_known()
    }

    /// Returns whether formats that can show open calls show this call as open.
    pub(crate) fn stays_open(&self) -> bool {
        matches!(self.end, SpanEnd::Open | SpanEnd::GivenUp) && !self.is_minimum
    }

    /// Returns how the call ended, unless it ended with a return.
    #[must_use]
    pub fn remark(&self) -> Option<&'static str> {
        match self.end {
            SpanEnd::Return => None,
            SpanEnd::Exception => Some("exception"),
            SpanEnd::NotReturned => Some("not returned: an enclosing call ended first"),
            SpanEnd::Open if self.is_minimum => Some("open when the process died: ≥"),
            SpanEnd::Open => Some("open at the end"),
            SpanEnd::GivenUp => Some("given up: too many open calls"),
            SpanEnd::Interrupted => Some("interrupted: the events that follow are missing"),
            _ => Some("unknown"),
        }
    }
}

/// The end of a thread.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ThreadEnd<'e> {
    /// The thread.
    pub thread: &'e Thread,
    /// The time of the thread's last event or call in nanoseconds, or the start of the trace or of
    /// the range if it has no events there.
    pub end_ns: u64,
    /// Sentences about missing or damaged data.
    pub notes: &'e [String],
}
