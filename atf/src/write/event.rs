//! The events and details that a tracer passes to a writer, and summaries of what was written.

use crate::wire::{DetailEventType, EventKind};
use crate::with_setters;

with_setters! {
    /// A call, a return or an exception that a tracer observed.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct Event {
        /// The timestamp in nanoseconds, on the clock set in the options; never less than the
        /// previous event's.
        pub timestamp_ns: u64,
        /// The function: module in the upper 32 bits, symbol in the lower.
        pub function_id: u64,
        /// The kind of event.
        pub event_kind: EventKind,
        /// The depth of the call stack: 1 for the outermost call; a return has its call's depth.
        /// Wire version 2 does not record it.
        pub call_depth: u32,
    }
}

impl Event {
    /// Creates an event. Wire version 2 does not record `call_depth`.
    #[must_use]
    pub const fn new(
        timestamp_ns: u64,
        function_id: u64,
        event_kind: EventKind,
        call_depth: u32,
    ) -> Self {
        Self {
            timestamp_ns,
            function_id,
            event_kind,
            call_depth,
        }
    }
}

with_setters! {
    /// Registers and stack at an event, or other data about it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct Detail<'a> {
        /// The kind of detail: [`FUNCTION_CALL`](DetailEventType::FUNCTION_CALL) for a call,
        /// [`FUNCTION_RETURN`](DetailEventType::FUNCTION_RETURN) for a return.
        pub event_type: DetailEventType,
        /// Flags; none are defined.
        pub flags: u16,
        /// The payload: any bytes, less than 4 GiB.
        /// [`FunctionPayload::encode`](crate::detail::FunctionPayload::encode) encodes the payload
        /// of a call or a return.
        pub payload: &'a [u8],
    }
}

impl<'a> Detail<'a> {
    /// Creates a detail without flags.
    #[must_use]
    pub const fn new(event_type: DetailEventType, payload: &'a [u8]) -> Self {
        Self {
            event_type,
            flags: 0,
            payload,
        }
    }
}

/// The positions of an index event and its detail event, counted from 0. This struct is exhaustive,
/// because a link has exactly two ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Link {
    /// The position in `index.atf`.
    pub index_seq: u64,
    /// The position in `detail.atf`.
    pub detail_seq: u64,
}

/// A summary of the final contents of a thread's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThreadSummary {
    /// The thread's id.
    pub thread_id: u32,
    /// The number of events in `index.atf`.
    pub event_count: u64,
    /// The number of events in `detail.atf`; 0 if the file does not exist.
    pub detail_count: u64,
    /// The number of reserved details that are not in `detail.atf`: dropped by
    /// [`drop_detail`](super::ThreadWriter::drop_detail), or still unwritten when the files were
    /// finalized.
    pub dropped_details: u64,
    /// The timestamps of the first and the last event in nanoseconds; `None` if there are no
    /// events.
    pub time_range: Option<(u64, u64)>,
}

/// Totals over a session's threads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionTotals {
    /// The number of threads written so far.
    pub threads: u64,
    /// The number of finalized threads.
    pub finalized: u64,
    /// The number of index events in finalized threads.
    pub event_count: u64,
    /// The number of detail events in finalized threads.
    pub detail_count: u64,
    /// The number of reserved details of finalized threads that are not in their files.
    pub dropped_details: u64,
    /// The earliest and the latest timestamp in nanoseconds, over finalized threads with events.
    pub time_range: Option<(u64, u64)>,
}

impl SessionTotals {
    /// Adds another session's totals. A thread that is in both sessions counts twice.
    #[doc(hidden)]
    pub fn add(&mut self, other: &Self) {
        self.threads = self.threads.saturating_add(other.threads);
        self.finalized = self.finalized.saturating_add(other.finalized);
        self.event_count = self.event_count.saturating_add(other.event_count);
        self.detail_count = self.detail_count.saturating_add(other.detail_count);
        self.dropped_details = self.dropped_details.saturating_add(other.dropped_details);
        let ranges = self.time_range.into_iter().chain(other.time_range);
        self.time_range = ranges.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)));
    }
}
