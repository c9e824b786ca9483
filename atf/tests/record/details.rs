//! Tests a ring's lane for payloads.

use std::thread;

use atf::DetailEventType;
use atf::detail::DetailReader;
use atf::record::Lost;
use atf::thread::ThreadReader;
use atf::write::{Detail, Link};

use crate::{event, many, read, ring, writer};

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

const fn link(index_seq: u64, detail_seq: u64) -> Link {
    Link {
        index_seq,
        detail_seq,
    }
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
fn payloads_stay_with_their_events_when_their_lane_wraps() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = writer(folder.path());
    // The lane has a prime number of bytes, so that payloads wrap at every position.
    let (mut recorder, mut drain) = ring(3, 211);
    for n in 0..3_000 {
        let recorded = match n % 5 {
            4 => recorder.record(&event(n)).map(drop),
            _ => recorder
                .record_with_detail(&event(n), &detail(n, &payload(n)))
                .map(drop),
        };
        recorded.unwrap();
        if n % 2 == 1 {
            drain.drain_into(&mut writer).unwrap();
        }
    }
    writer.finalize().unwrap();
    assert_eq!(
        read(folder.path()),
        (0..3_000).map(event).collect::<Vec<_>>()
    );
    let expected: Vec<_> = (0..3_000).filter(|n| n % 5 != 4).collect();
    let reader = ThreadReader::open(folder.path()).unwrap();
    assert_eq!(with_details(&reader), expected);
    assert_eq!(drain.totals().details, 2_400);
}

#[test]
fn a_payload_that_does_not_fit_leaves_its_event_without_detail() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = writer(folder.path());
    // Two of the payloads of 60, 61 and 62 bytes fit. The third is lost, and the remaining space
    // stays free for smaller payloads.
    let (mut recorder, mut drain) = ring(8, 125);
    let mut record = |n| recorder.record_with_detail(&event(n), &detail(n, &payload(n)));
    assert_eq!(record(60), Ok(link(0, 0)));
    assert_eq!(record(61), Ok(link(1, 1)));
    assert_eq!(recorder.lost_details(), 0);
    let mut record = |n| recorder.record_with_detail(&event(n), &detail(n, &payload(n)));
    assert_eq!(record(62), Err(Lost::Detail));
    assert_eq!(record(97 + 4), Ok(link(3, 2)));
    assert_eq!(record(97 + 5), Err(Lost::Detail));
    let drained = drain.drain_into(&mut writer).unwrap();
    assert_eq!(drained, crate::drained(5, 3, 0, 2));
    assert_eq!(record(97 * 2 + 6), Ok(link(5, 3)));
    drain.drain_into(&mut writer).unwrap();
    writer.finalize().unwrap();
    let reader = ThreadReader::open(folder.path()).unwrap();
    assert_eq!(reader.index().event_count(), 6);
    assert_eq!(with_details(&reader), [60, 61, 101, 200]);
}

#[test]
fn a_payload_larger_than_its_lane_and_one_without_a_lane_are_lost() {
    let folder = tempfile::tempdir().unwrap();
    for (number, size) in [0, 10].into_iter().enumerate() {
        let folder = folder.path().join(number.to_string());
        let mut writer = writer(&folder);
        let (mut recorder, mut drain) = ring(4, size);
        let recorded = recorder.record_with_detail(&event(11), &detail(11, &payload(11)));
        assert_eq!(recorded, Err(Lost::Detail));
        // An empty payload needs no space.
        recorder
            .record_with_detail(&event(97), &detail(97, &[]))
            .unwrap();
        let drained = drain.drain_into(&mut writer).unwrap();
        assert_eq!((drained.lost_details, drained.details), (1, 1));
        assert_eq!(recorder.lost_details(), 1);
        writer.finalize().unwrap();
        let reader = ThreadReader::open(&folder).unwrap();
        assert_eq!(with_details(&reader), [97]);
    }
}

#[test]
fn a_lost_event_loses_its_detail_too() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = writer(folder.path());
    let (mut recorder, mut drain) = ring(2, 1_000);
    for n in 40..45 {
        let recorded = recorder.record_with_detail(&event(n), &detail(n, &payload(n)));
        assert_eq!(recorded.is_ok(), n < 42);
        assert!(recorded.is_ok() || recorded == Err(Lost::Event));
    }
    let drained = drain.drain_into(&mut writer).unwrap();
    assert_eq!(drained, crate::drained(2, 2, 3, 0));
    // Lost payloads take no space in the lane.
    recorder
        .record_with_detail(&event(50), &detail(50, &payload(50)))
        .unwrap();
    drain.drain_into(&mut writer).unwrap();
    writer.finalize().unwrap();
    let reader = ThreadReader::open(folder.path()).unwrap();
    assert_eq!(with_details(&reader), [40, 41, 50]);
}

#[test]
fn between_two_threads_each_detail_is_written_with_its_event_or_counted() {
    const EVENTS: u64 = many(60_000);
    let folder = tempfile::tempdir().unwrap();
    let mut writer = writer(folder.path());
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
