//! Reads single files of a trace.

use atf::detail::DetailReader;
use atf::index::{IndexEvent, IndexReader};
use atf::manifest::Manifest;
use atf_conformance::reference;
use atf_interpreter::{Kind, read_as};

use crate::scratch::{put_detected, scratch};

/// Reads an index file. Checks that nothing panics and that every returned event is in the file.
pub fn index(data: &[u8]) {
    let Ok(index) = IndexReader::from_bytes(data) else {
        return;
    };
    let size = data.len() as u64;
    let count = index.event_count();
    let end = index.events_end();
    assert!(end <= size, "{count} events end at {end} of {size}");
    let mut seen = 0;
    for (seq, event) in (0..).zip(index.events_in(..)) {
        let event = event.expect("bytes in memory can be read");
        assert_eq!(index.get(seq).expect("as above"), Some(event));
        seen += 1;
    }
    assert_eq!(seen, count);
    assert_eq!(index.get(count).expect("as above"), None);
    let zeros = index.holes().map(|hole| hole.expect("as above").count);
    assert!(zeros.sum::<u64>() <= count);
    let first = index.event_offset(0);
    assert!(first.is_none_or(|at| at + IndexEvent::SIZE as u64 <= size));
    let _ = (
        index.checksum(),
        index.time_range(),
        index.disagreements(),
        index.completeness(),
    );
}

/// Reads a detail file. Checks that nothing panics, that events are contiguous, and that payloads
/// are inside the file.
pub fn detail(data: &[u8]) {
    let Ok(detail) = DetailReader::from_bytes(data) else {
        return;
    };
    let size = data.len() as u64;
    assert!(detail.events_end() <= size);
    let mut end = detail.header().events_offset;
    let mut seen = 0;
    for event in detail.events_in(..) {
        let event = event.expect("bytes in memory can be read");
        assert_eq!(event.offset, end, "a gap before event {}", event.seq);
        end = event.payload_offset() + event.payload_size();
        assert!(end <= size);
        let _ = detail.function_payload(&event).expect("as above");
        seen += 1;
    }
    assert_eq!(seen, detail.event_count());
    let _ = (
        detail.checksum(),
        detail.time_range(),
        detail.disagreements(),
        detail.completeness(),
    );
}

/// Reads a manifest. Checks that nothing panics, that the list of problems is bounded, and that no
/// thread appears twice.
pub fn manifest(data: &[u8]) {
    let manifest = Manifest::parse(data);
    assert!(manifest.problems.len() <= 101);
    let mut ids: Vec<u32> = manifest.threads.iter().map(|thread| thread.id).collect();
    ids.sort_unstable();
    assert!(ids.windows(2).all(|pair| pair[0] != pair[1]));
}

/// Reads a file with the library and with the layout interpreter, which share no code.
///
/// The decoders must agree on everything: the verdict, all events and all derived values.
pub fn differential(data: &[u8]) {
    let scratch = scratch();
    let path = put_detected(scratch.path(), data);
    let read = reference::read(&path);
    let interpreted = read_as(Kind::detect(data), data);
    assert!(
        read == interpreted,
        "the library reads\n{read:#}\nthe interpreter\n{interpreted:#}"
    );
}
