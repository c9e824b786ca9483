//! Tests a ring's lane for payloads.

use std::thread;

use atf::DetailEventType;
use atf::detail::DetailReader;
use atf::thread::ThreadReader;
use atf::write::Detail;
use atf_record::Lost;

use crate::{event, many, ring, writer};

fn payload(n: u64) -> Vec<u8> {
    let bytes = (0..n % 97).map(|byte| (byte * 7 + n).to_le_bytes()[0]);
    bytes.collect()
}

fn detail(n: u64, payload: &[u8]) -> Detail<'_> {
    Detail::new(
        match n % 2 {
            0 => DetailEventType::FUNCTION_CALL,
            _ => DetailEventType::FUNCTION_RETURN,
        },
        payload,
    )
    .flags(u16::try_from(n % 1000).unwrap())
}

/// Checks each detail against the recorded one. Returns the positions of the events that have
/// details.
#[track_caller]
fn with_details(reader: &ThreadReader) -> Vec<u64> {
    let mut found = Vec::new();
    for event in reader.index().events_in(..) {
        let event = event.unwrap();
        let Some(forward) = reader.detail_of(&event).unwrap().found() else {
            assert_eq!(event.detail_seq, None);
            continue;
        };
        assert_eq!(event.detail_seq, Some(found.len() as u64));
        let n = event.timestamp_ns - 5_000;
        let bytes = reader.detail().unwrap().payload(&forward, 1 << 20).unwrap();
        assert_eq!(bytes, payload(n), "event {n}");
        let expected = detail(n, &bytes);
        assert_eq!(forward.header.event_type, expected.event_type);
        assert_eq!(forward.header.flags, expected.flags);
        assert_eq!(forward.header.timestamp, event.timestamp_ns);
        found.push(n);
    }
    let details = reader.detail().map_or(0, DetailReader::event_count);
    assert_eq!(details, found.len() as u64);
    found
}

#[test]
fn between_two_threads_each_detail_is_written_with_its_event_or_counted() {
    const EVENTS: u64 = many(60_000);
    let (folder, mut writer) = writer();
    let (mut recorder, mut drain) = ring(64, 1_999);
    let traced = thread::spawn(move || {
        let (mut whole, mut bare, mut lost) = (Vec::new(), 0, 0);
        for n in 0..EVENTS {
            match recorder.record_with_detail(&event(n), &detail(n, &payload(n))) {
                Ok(_) => whole.push(n),
                Err(Lost::Detail) => bare += 1,
                Err(_) => lost += 1,
            }
        }
        (whole, bare, lost)
    });
    while !drain.is_finished() {
        drain.drain_into(&mut writer).unwrap();
    }
    let (whole, bare, lost) = traced.join().unwrap();
    let expected = crate::drained(EVENTS - lost, whole.len() as u64, lost, bare);
    assert_eq!(drain.totals(), expected);
    writer.finalize().unwrap();
    let reader = ThreadReader::open(folder.path()).unwrap();
    assert_eq!(reader.index().event_count(), EVENTS - lost);
    assert_eq!(with_details(&reader), whole);
}
