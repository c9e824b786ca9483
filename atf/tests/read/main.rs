//! Tests the readers.

#[path = "../support/events.rs"]
mod support_events;
#[path = "../support/source.rs"]
mod support_source;

mod claims;
mod corpus;
mod detail;
mod index;
mod lookups;
mod manifest;
mod many_events;
mod memory;
mod payload;
mod problems;
mod scans;
mod session;
mod source;
mod symbols;
mod third_party;
mod time;
mod ways;

use std::num::NonZero;

use atf::detail::DetailReader;
use atf::index::{IndexEvent, IndexReader};
use atf::{Checksum, Completeness, EventKind, PartialFooter};
use atf_samples::files::DetailRecord;

use support_events::{expected, record};
use support_source::{Source, counted};

/// Returns all events, read in every possible way.
fn events(index: &IndexReader) -> Vec<IndexEvent> {
    let events: Vec<IndexEvent> = index.events_in(..).collect::<Result<_, _>>().unwrap();
    let count = index.event_count();
    assert_eq!(events.len() as u64, count);
    let mut cursor = index.cursor();
    for (seq, event) in events.iter().enumerate() {
        assert_eq!(index.get(seq as u64).unwrap().as_ref(), Some(event));
        assert_eq!(cursor.get(seq as u64).unwrap().as_ref(), Some(event));
    }
    for seq in [count, count + 1, u64::MAX] {
        assert_eq!(index.get(seq).unwrap(), None);
        assert_eq!(cursor.get(seq).unwrap(), None);
    }
    let back: Vec<_> = index.events_in(..).rev().map(Result::unwrap).collect();
    assert!(back.iter().rev().eq(&events));
    let mut blocks = index.blocks(..);
    let mut in_blocks = Vec::new();
    while let Some(block) = blocks.next_block().unwrap() {
        assert!(!block.is_empty());
        in_blocks.extend(block.iter());
        assert_eq!(blocks.next_seq(), in_blocks.len() as u64);
    }
    assert_eq!(in_blocks, events);
    for (start, end) in [
        (0, count),
        (0, 1),
        (1, count),
        (count / 3, count / 2),
        (7, 7),
    ] {
        let (start, end) = (start.min(count), end.min(count));
        if start <= end {
            range(index, &events, start, end);
        }
    }
    assert_eq!(index.events_in(count..).count(), 0);
    assert_eq!(index.events_in(u64::MAX..).count(), 0);
    assert_eq!(index.events_in(..=u64::MAX).count(), events.len());
    scanned(index, &events);
    assert!(index.events_end() <= index.file_size());
    events
}

/// Checks the events from `start` to `end`, read in every possible way.
fn range(index: &IndexReader, events: &[IndexEvent], start: u64, end: u64) {
    let positions = usize::try_from(start).unwrap()..usize::try_from(end).unwrap();
    let expected = &events[positions.clone()];
    let found: Vec<_> = index.events_in(start..end).map(Result::unwrap).collect();
    assert_eq!(found, expected);
    // The upper bound is exact, but the lower bound may be less, because an error may end the
    // events early.
    let hint = index.events_in(start..end).size_hint();
    assert_eq!(hint.1, Some(expected.len()));
    assert!(hint.0 <= expected.len());
    // Read from both ends alternately.
    let mut left = index.events_in(start..end);
    let (mut front, mut back) = (Vec::new(), Vec::new());
    while let Some(event) = left.next() {
        front.push(event.unwrap());
        back.extend(left.next_back().map(Result::unwrap));
    }
    assert!(left.next_back().is_none() && left.next().is_none());
    front.extend(back.into_iter().rev());
    assert_eq!(front, expected);
    if let Some(slice) = index.slice(start..end) {
        assert_eq!(slice.len(), expected.len());
        assert_eq!(slice.is_empty(), expected.is_empty());
        assert!(slice.iter().eq(expected.iter().copied()));
        assert_eq!(slice.iter().len(), expected.len());
        let behind = |place: usize| expected.get(place).copied();
        assert_eq!(slice.iter().nth(2), behind(2));
        assert_eq!(slice.iter().skip(1).step_by(3).nth(1), behind(4));
        assert!(slice.iter().rev().eq(expected.iter().rev().copied()));
        assert_eq!(slice.first(), expected.first().copied());
        assert_eq!(slice.last(), expected.last().copied());
        assert_eq!(slice.get(slice.len()), None);
        let times = expected.iter().map(|event| event.timestamp_ns);
        assert!(times.eq((0..slice.len()).map(|at| slice.timestamp_ns(at).unwrap())));
        let whole = index.slice(..).unwrap();
        assert_eq!(whole.slice(positions).as_bytes(), slice.as_bytes());
    }
}

/// Compares a scan with the simplest possible one.
fn scanned(index: &IndexReader, events: &[IndexEvent]) {
    let scan = index.scan().unwrap();
    assert_eq!(index.scan_parallel(NonZero::new(3).unwrap()).unwrap(), scan);
    assert_eq!(scan.checksum, index.checksum().unwrap());
    assert_eq!(scan.event_count, events.len() as u64);
    assert_eq!(scan.bytes, 32 * scan.event_count);
    assert_eq!(scan.time_range, index.time_range().unwrap());
    let back: Vec<usize> = (1..events.len())
        .filter(|seq| events[*seq].timestamp_ns < events[seq - 1].timestamp_ns)
        .collect();
    let disorder = scan.disorder.map(|it| (it.first_seq, it.count));
    let expected = back.first().map(|first| (*first as u64, back.len() as u64));
    assert_eq!(disorder, expected);
    assert_eq!(scan.is_ordered(), back.is_empty());
    let of_kind = |kind: &EventKind| {
        let found = events.iter().filter(|event| event.event_kind == *kind);
        (*kind, found.count() as u64)
    };
    let known: Vec<_> = EventKind::MEMBERS.iter().map(of_kind).collect();
    assert_eq!(scan.kinds.iter().collect::<Vec<_>>(), known);
    let unknown = scan.event_count - known.iter().map(|(_, count)| count).sum::<u64>();
    assert_eq!(scan.kinds.unknown, unknown);
    let holes: u64 = index.holes().map(|hole| hole.unwrap().count).sum();
    let is_proven = matches!(scan.checksum, Checksum::Good | Checksum::Ieee { .. });
    assert_eq!(if is_proven { 0 } else { scan.zero_events }, holes);
    let mut cursor = index.cursor();
    let bytes = (0..scan.event_count).flat_map(|seq| cursor.bytes(seq).unwrap().unwrap());
    assert_eq!(scan.crc32c, crc32c::crc32c(&bytes.collect::<Vec<u8>>()));
}

/// Returns all detail events, read in every possible way.
fn details(detail: &DetailReader) -> Vec<DetailRecord> {
    let mut cursor = detail.cursor();
    let mut records = Vec::new();
    for event in detail.events_in(..) {
        let event = event.unwrap();
        assert_eq!(event.seq, records.len() as u64);
        assert_eq!(detail.get(event.seq).unwrap(), Some(event));
        assert_eq!(cursor.get(event.seq).unwrap(), Some(event));
        assert_eq!(detail.event_offset(event.seq), Some(event.offset));
        let payload = detail.payload(&event, usize::MAX).unwrap();
        assert_eq!(payload.len() as u64, event.payload_size());
        assert_eq!(detail.payload_bytes(&event).unwrap_or(&payload), payload);
        records.push(record(&event, payload));
    }
    assert_eq!(records.len() as u64, detail.event_count());
    assert_eq!(detail.get(detail.event_count()).unwrap(), None);
    assert_eq!(detail.get(u64::MAX).unwrap(), None);
    assert!(detail.events_end() <= detail.file_size());
    records
}

/// Returns the number of trailing bytes, the size of the zero tail and the torn footer of a file
/// without a footer.
fn tail(completeness: &Completeness) -> (u64, u64, Option<PartialFooter>) {
    let Completeness::Unfinalized {
        trailing_bytes,
        zero_tail_bytes,
        partial_footer,
        ..
    } = completeness
    else {
        panic!("{completeness:?}")
    };
    (*trailing_bytes, *zero_tail_bytes, *partial_footer)
}
