//! The events that readers and followers should return.

use atf::detail::DetailEvent;
use atf::index::IndexEvent;
use atf_samples::files::{DetailRecord, EventRecord, IndexFile};

/// Returns the events of a file.
pub(crate) fn expected(file: &IndexFile) -> Vec<IndexEvent> {
    let event = |event: &EventRecord| {
        IndexEvent::new(event.timestamp_ns, event.function_id, event.kind.into())
            .thread_id(file.thread_id)
            .call_depth((file.version == 1).then_some(event.depth))
            .detail_seq(event.detail_seq)
    };
    file.events.iter().map(event).collect()
}

/// Returns a detail as it was written.
pub(crate) fn record(event: &DetailEvent, payload: Vec<u8>) -> DetailRecord {
    let header = &event.header;
    let event_type = header.event_type.into();
    DetailRecord::new(event_type, header.index_seq, header.timestamp, payload)
}
