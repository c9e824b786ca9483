//! What readers give, by property.

#[path = "../support/mod.rs"]
mod support;

mod arbitrary;
mod detail;
mod every_bit;
mod every_cut;
mod index;
mod index_tail;
mod manifest;
mod session;
mod source;
mod third_party;
mod vectors;
mod ways;

use atf::detail::DetailReader;
use atf::index::{IndexEvent, IndexReader};
use support::{DetailFile, DetailRecord, EventRecord, IndexFile};

/// The file's events as a reader should give them.
fn expected(file: &IndexFile) -> Vec<IndexEvent> {
    let event = |event: &EventRecord| IndexEvent {
        timestamp_ns: event.timestamp_ns,
        function_id: event.function_id,
        thread_id: file.thread_id,
        event_kind: event.kind.into(),
        call_depth: (file.version == 1).then_some(event.depth),
        detail_seq: event.detail_seq,
    };
    file.events.iter().map(event).collect()
}

/// All events, each read in every way that there is.
fn events(index: &IndexReader) -> Vec<IndexEvent> {
    let events: Vec<IndexEvent> = index.events().collect::<Result<_, _>>().unwrap();
    assert_eq!(events.len() as u64, index.event_count());
    for (seq, event) in events.iter().enumerate() {
        assert_eq!(index.get(seq as u64).unwrap().as_ref(), Some(event));
    }
    assert_eq!(index.get(index.event_count()).unwrap(), None);
    assert_eq!(index.get(u64::MAX).unwrap(), None);
    assert!(index.events_end() <= index.file_size());
    events
}

/// All detail events, each read in every way that there is.
fn details(detail: &DetailReader, file: &DetailFile) -> Vec<DetailRecord> {
    let mut cursor = detail.cursor();
    let mut records = Vec::new();
    for event in detail.events() {
        let event = event.unwrap();
        assert_eq!(event.seq, records.len() as u64);
        assert_eq!(detail.get(event.seq).unwrap(), Some(event));
        assert_eq!(cursor.get(event.seq).unwrap(), Some(event));
        assert_eq!(detail.event_offset(event.seq), Some(event.offset));
        let payload = detail.payload(&event, usize::MAX).unwrap();
        assert_eq!(payload.len() as u64, event.payload_size());
        assert_eq!(event.header.thread_id, file.thread_id);
        records.push(DetailRecord {
            event_type: event.header.event_type.into(),
            index_seq: event.header.index_seq,
            timestamp: event.header.timestamp,
            payload,
        });
    }
    assert_eq!(records.len() as u64, detail.event_count());
    assert_eq!(detail.get(detail.event_count()).unwrap(), None);
    assert_eq!(detail.get(u64::MAX).unwrap(), None);
    assert!(detail.events_end() <= detail.file_size());
    records
}
