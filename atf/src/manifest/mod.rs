//! `manifest.json`: a session's description of itself.
//!
//! No source gives it a schema; this is what tracers in the field write. It is written before the
//! thread files are finalized, so it may be wrong or missing after a crash. Reading the events does
//! not require it.

mod json;
mod names;
mod read;
mod write;

pub(crate) use names::{with_ended_by, with_symbols};
pub(crate) use read::{bytes_in_session, unknown_keys};

use crate::clock::TimingAnchor;
use crate::error::Error;
use crate::wire::Clock;

/// The type of an anchor's `media_timescale`: with another one, no time can be converted.
pub(crate) const TIMESCALE: &str = "an i32 greater than 0";

/// The readable contents of a `manifest.json`, and the problems found.
///
/// ```
/// use atf::manifest::Manifest;
///
/// let text = r#"{"threads": [{"id": 0, "has_detail": true}, {"id": "../1"}]}"#;
/// let manifest = Manifest::parse(text.as_bytes());
/// assert_eq!(manifest.threads[0].id, 0);
/// assert_eq!(manifest.threads.len(), 1);
///
/// let problem = &manifest.problems[0];
/// assert_eq!(problem.field(), Some("threads[1].id"));
/// assert_eq!(problem.offset(), Some(51));
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Manifest {
    /// `"2.0"` without symbols, `"2.1"` with them.
    pub format_version: Option<String>,
    /// The threads in the manifest's order, each id once.
    pub threads: Vec<ManifestThread>,
    /// The earliest timestamp of all threads in nanoseconds; tracers in the field write 0.
    pub time_start_ns: Option<u64>,
    /// The latest timestamp of all threads in nanoseconds; tracers in the field write 0.
    pub time_end_ns: Option<u64>,
    /// The clock of the timestamps.
    pub clock_type: Option<Clock>,
    /// Executables and libraries.
    pub modules: Vec<Module>,
    /// Function names.
    pub symbols: Vec<Symbol>,
    /// Moments on the trace's clock and on a recording's clock, in the manifest's order.
    pub timing_anchors: Vec<TimingAnchor>,
    /// The events that the tracer lost and that belong to no listed thread.
    pub lost_events: Option<Loss>,
    /// How many of its last events each thread may lack, because the tracer held them in memory: it
    /// still runs or was killed.
    pub unwritten_events: Option<u64>,
    /// The signal that ended the traced process, such as `"SIGSEGV"`.
    pub ended_by: Option<String>,
    /// The largest measured difference in nanoseconds between timestamps and the clock of
    /// `clock_type`, if they were read from another one.
    pub clock_error_ns: Option<u64>,
    /// The first 100 problems, each with the path of its value (`threads[2].id`) and its byte
    /// offset in the file.
    pub problems: Vec<Error>,
    /// The total number of problems.
    pub problem_count: u64,
}

/// A thread that the manifest lists.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ManifestThread {
    /// Its position in the manifest's list, counted from 0; unreadable entries count too.
    pub position: usize,
    /// Its thread id, which names its folder.
    pub id: u32,
    /// Whether it has a `detail.atf`; tracers in the field always write true.
    pub has_detail: Option<bool>,
    /// Its name: at least one character. An empty name is read as `None` and not written.
    pub name: Option<String>,
    /// The events that its tracer lost.
    pub lost_events: Option<Loss>,
    /// The details that its tracer lost, of events that are in the trace.
    pub lost_details: Option<Loss>,
    /// The part of a longer trace that it was cut to.
    pub cut: Option<Cut>,
}

impl ManifestThread {
    /// Creates a thread with only an id.
    pub(crate) const fn new(id: u32) -> Self {
        Self {
            position: 0,
            id,
            has_detail: None,
            name: None,
            lost_events: None,
            lost_details: None,
            cut: None,
        }
    }
}

/// Events or details that a tracer could not keep, for example because its buffer was full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loss {
    /// How many were lost. A loss of 0 is not written.
    pub count: u64,
    /// The first lost one's timestamp in nanoseconds.
    pub first_ns: u64,
    /// The last lost one's timestamp in nanoseconds.
    pub last_ns: u64,
}

impl Loss {
    /// Creates a loss of `count` events or details, with the timestamps of the first and the last.
    #[must_use]
    pub const fn new(count: u64, first_ns: u64, last_ns: u64) -> Self {
        Self {
            count,
            first_ns,
            last_ns,
        }
    }
}

/// The part of a longer trace that a thread was cut to: see [`cut`](crate::rewrite::cut).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cut {
    /// The start of the part in nanoseconds: the timestamp of the repeated calls.
    pub from_ns: u64,
    /// The end of the part in nanoseconds, inclusive: the timestamp of the added returns.
    pub to_ns: u64,
    /// How many of the thread's first events repeat calls that were open at the start.
    pub calls: u64,
    /// How many of the thread's last events are added returns of calls that were open at the end.
    pub returns: u64,
}

impl Cut {
    /// Creates a cut.
    #[must_use]
    pub const fn new(from_ns: u64, to_ns: u64, calls: u64, returns: u64) -> Self {
        Self {
            from_ns,
            to_ns,
            calls,
            returns,
        }
    }
}

/// An executable or a library.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Module {
    /// The upper half of its functions' `function_id`.
    pub module_id: u32,
    /// The path of its file.
    pub path: Option<String>,
    /// Its load address.
    pub base_address: Option<u64>,
    /// Its size in memory in bytes.
    pub size: Option<u64>,
    /// Its build id.
    pub uuid: Option<String>,
    /// Whether the lower halves of its functions' ids are the functions' offsets from
    /// `base_address`, so that their names can be found in its file after the run.
    pub function_offsets: Option<bool>,
}

impl Module {
    /// Creates a module with only an id.
    #[must_use]
    pub const fn new(module_id: u32) -> Self {
        Self {
            module_id,
            path: None,
            base_address: None,
            size: None,
            uuid: None,
            function_offsets: None,
        }
    }
}

impl Module {
    /// Sets the path of its file.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Sets its load address.
    #[must_use]
    pub const fn base_address(mut self, base_address: u64) -> Self {
        self.base_address = Some(base_address);
        self
    }

    /// Sets its size in memory in bytes.
    #[must_use]
    pub const fn size(mut self, size: u64) -> Self {
        self.size = Some(size);
        self
    }

    /// Sets its build id.
    #[must_use]
    pub fn uuid(mut self, uuid: impl Into<String>) -> Self {
        self.uuid = Some(uuid.into());
        self
    }

    /// Sets whether the lower halves of its functions' ids are offsets from its load address.
    #[must_use]
    pub const fn function_offsets(mut self, function_offsets: bool) -> Self {
        self.function_offsets = Some(function_offsets);
        self
    }
}

/// The name of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Symbol {
    /// Its position in the manifest's list, counted from 0; unreadable entries count too.
    pub position: usize,
    /// The function's id, as in the events.
    pub function_id: u64,
    /// The upper half of `function_id`.
    pub module_id: Option<u32>,
    /// The lower half of `function_id`.
    pub symbol_index: Option<u32>,
    /// Its name: at least one character, any characters. An empty name is read as `None` and not
    /// written.
    pub name: Option<String>,
}

impl Symbol {
    /// Creates the name of a function; its module and index are the halves of `function_id`.
    #[must_use]
    pub fn new(function_id: u64, name: impl Into<String>) -> Self {
        let [module_id, symbol_index] = [function_id >> 32, function_id & u64::from(u32::MAX)]
            .map(|half| u32::try_from(half).ok());
        Self {
            position: 0,
            function_id,
            module_id,
            symbol_index,
            name: Some(name.into()),
        }
    }
}
