//! The events and details that a tracer passes to a writer.

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
