//! Events for C, the same for both wire versions.

use atf::detail::DetailEvent;
use atf::index::IndexEvent;

use crate::writer::NO_DETAIL;

/// `AtfEvent`: an event of `index.atf`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AtfEvent {
    /// The event's time in nanoseconds.
    pub timestamp_ns: u64,
    /// The function's id.
    pub function_id: u64,
    /// The event's position in `index.atf`, counted from 0.
    pub index_seq: u64,
    /// The position of the event's detail event, or `ATF_NO_DETAIL`.
    pub detail_seq: u64,
    /// The thread recorded in the event.
    pub thread_id: u32,
    /// In a session, the id in the folder's name; otherwise, the thread id in the header.
    pub thread: u32,
    /// `ATF_EVENT_KIND_*`.
    pub event_kind: u32,
    /// Depth of the call stack, or `ATF_NO_DEPTH`.
    pub call_depth: u32,
    /// In a merge of a trace, the position of the event's session; otherwise 0.
    pub session: u32,
    /// 0; for later versions.
    pub reserved: [u32; 3],
}

/// The depth of events of wire version 2, which does not record it.
const NO_DEPTH: u32 = u32::MAX;

impl AtfEvent {
    #[inline]
    pub(crate) fn new(thread: u32, index_seq: u64, event: &IndexEvent) -> Self {
        Self {
            timestamp_ns: event.timestamp_ns,
            function_id: event.function_id,
            index_seq,
            detail_seq: event.detail_seq.unwrap_or(NO_DETAIL),
            thread_id: event.thread_id,
            thread,
            event_kind: event.event_kind.into(),
            call_depth: event.call_depth.unwrap_or(NO_DEPTH),
            session: 0,
            reserved: [0; 3],
        }
    }
}

/// `AtfDetailEvent`: an event of `detail.atf`, without its payload.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AtfDetailEvent {
    /// The event's time in nanoseconds.
    pub timestamp_ns: u64,
    /// The event's position in `detail.atf`, counted from 0.
    pub detail_seq: u64,
    /// The position of the index event to which the detail belongs.
    pub index_seq: u64,
    /// The event's offset, in bytes from the start of the file.
    pub offset: u64,
    /// The size of the payload in bytes.
    pub payload_size: u64,
    /// The thread recorded in the event.
    pub thread_id: u32,
    /// `ATF_DETAIL_EVENT_*`.
    pub event_type: u16,
    /// The event's flags.
    pub flags: u16,
    /// 0; for later versions.
    pub reserved: [u64; 2],
}

impl From<DetailEvent> for AtfDetailEvent {
    fn from(event: DetailEvent) -> Self {
        Self {
            timestamp_ns: event.header.timestamp,
            detail_seq: event.seq,
            index_seq: event.header.index_seq,
            offset: event.offset,
            payload_size: event.payload_size(),
            thread_id: event.header.thread_id,
            event_type: event.header.event_type.into(),
            flags: event.header.flags,
            reserved: [0; 2],
        }
    }
}
