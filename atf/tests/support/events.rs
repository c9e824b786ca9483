//! The events that readers and followers should return.

use atf::index::IndexEvent;
use atf_samples::files::{EventRecord, IndexFile};

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
