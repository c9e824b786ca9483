//! What a tracer hands over.

use crate::wire::{DetailEventType, EventKind};

/// A call, a return or an exception, as a tracer saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// When, in nanoseconds of the clock that the options name; never less than the last one's.
    pub timestamp_ns: u64,
    /// Which function: module in the upper 32 bits, symbol in the lower.
    pub function_id: u64,
    /// What happened.
    pub event_kind: EventKind,
    /// Depth of the call stack: 1 for the outermost call, and a return repeats its call's. Wire
    /// version 2 does not record it.
    pub call_depth: u32,
}

/// Registers and stack at an event, or whatever else belongs to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Detail<'a> {
    /// What it describes: [`FUNCTION_CALL`](DetailEventType::FUNCTION_CALL) for a call,
    /// [`FUNCTION_RETURN`](DetailEventType::FUNCTION_RETURN) for a return.
    pub event_type: DetailEventType,
    /// Flags; no source names one.
    pub flags: u16,
    /// The payload; [`FunctionPayload::encode`](crate::detail::FunctionPayload::encode) makes that
    /// of a call or a return. Any bytes will do, less than 4 GiB of them.
    pub payload: &'a [u8],
}

/// An index event and the detail event that belong together, each by its position from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Link {
    /// The position in `index.atf`.
    pub index_seq: u64,
    /// The position in `detail.atf`.
    pub detail_seq: u64,
}

/// What a thread's files hold in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadSummary {
    /// The thread.
    pub thread_id: u32,
    /// Events in `index.atf`.
    pub event_count: u64,
    /// Events in `detail.atf`; 0 where there is no such file.
    pub detail_count: u64,
    /// Details that were reserved and are not in `detail.atf`: dropped by
    /// [`drop_detail`](super::ThreadWriter::drop_detail), or never written until the files were
    /// finalized.
    pub dropped_details: u64,
    /// The timestamps of the first and the last event in nanoseconds, or `None` without events.
    pub time_range: Option<(u64, u64)>,
}
