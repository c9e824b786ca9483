//! `detail.atf`.

use atf::Completeness;
use atf::detail::{DetailEvent, DetailReader};
use atf::follow::DetailFollower;

use crate::support::{DetailFile, DetailRecord};
use crate::{End, Written, drain_details};

/// The length of an event that is the footer's magic, `2DTA`, would be a gigabyte.
const MAGIC: &[u8; 4] = b"2DTA";

fn files() -> Vec<DetailFile> {
    let mut files = Vec::new();
    for version in [1, 2] {
        for count in [0, 1, 2, 9] {
            files.push(DetailFile::finalized(version, count));
        }
        // Where an event has its timestamp, a footer has the length of the events before it.
        for place in [1, 4, 8] {
            let mut file = DetailFile::finalized(version, 9);
            let length = file.places()[place] - 64;
            file.events[place].timestamp = length;
            files.push(DetailFile::of(version, file.events));
        }
        // A payload larger than what is read ahead, and payloads with copies of a footer.
        let mut events = DetailFile::finalized(version, 4).events;
        let payload = (0..40_000_u32).map(|byte| (byte % 251).to_le_bytes()[0]);
        events[1].payload = payload.collect();
        events[2].payload = DetailFile::finalized(version, 3).footer();
        events[3].payload = [vec![0; 9000], vec![1]].concat();
        files.push(DetailFile::of(version, events));
    }
    files
}

fn records(events: &[(DetailEvent, Vec<u8>)]) -> Vec<DetailRecord> {
    let record = |(event, payload): &(DetailEvent, Vec<u8>)| DetailRecord {
        event_type: event.header.event_type.into(),
        index_seq: event.header.index_seq,
        timestamp: event.header.timestamp,
        payload: payload.clone(),
    };
    events.iter().map(record).collect()
}

/// How many events end at or before an offset.
fn whole(file: &DetailFile, size: u64) -> usize {
    let ends = &file.places()[1..];
    ends.iter().filter(|end| **end <= size).count()
}

/// Steps in which a file grows: its bytes one by one, where it has few.
fn steps(file: &DetailFile) -> Vec<usize> {
    match file.bytes().len() {
        0..5000 => vec![1, 7, 24, 64, 100, 100_000],
        _ => vec![911, 100_000],
    }
}

#[test]
fn each_event_is_given_once_it_is_whole_whatever_bytes_come_at_a_time() {
    for file in files() {
        let placeholder = file.clone().placeholder();
        for step in steps(&file) {
            let written = Written::new("detail.atf");
            let mut follower = DetailFollower::new(written.path());
            let mut events = Vec::new();
            let mut before = 0;
            for piece in placeholder.bytes().chunks(step) {
                written.append(piece);
                let end = drain_details(&mut follower, &mut events).unwrap();
                let size = written.size();
                let is_whole = size == placeholder.bytes().len() as u64;
                assert_eq!(end == End::Finalized, is_whole && file.events.is_empty());
                assert!(events.len() <= whole(&file, size));
                assert!(events.len() >= whole(&file, size.saturating_sub(64)));
                assert_eq!(
                    records(&events[before..]),
                    file.events[before..events.len()]
                );
                before = events.len();
            }
            assert_eq!(records(&events), file.events);
            assert!(follower.has_footer());
            for (offset, byte) in file.header().iter().enumerate() {
                written.patch(offset as u64, &[*byte]);
                drain_details(&mut follower, &mut events).unwrap();
            }
            let end = drain_details(&mut follower, &mut events).unwrap();
            assert_eq!(end, End::Finalized);
            assert_eq!(records(&events), file.events);
            assert!(follower.framing_problem().is_none());
            let reader = DetailReader::from_bytes(written.bytes()).unwrap();
            assert!(matches!(reader.completeness(), Completeness::Finalized));
            assert!(
                events
                    .iter()
                    .map(|(event, _)| *event)
                    .eq(reader.events().map(Result::unwrap).collect::<Vec<_>>())
            );
            assert_eq!(follower.footer(), reader.footer());
        }
    }
}

#[test]
fn an_ordinary_event_is_given_with_its_last_byte() {
    for version in [1, 2] {
        let file = DetailFile::finalized(version, 9).placeholder();
        let written = Written::new("detail.atf");
        let mut follower = DetailFollower::new(written.path());
        let mut events = Vec::new();
        for byte in file.without_footer() {
            written.append(&[byte]);
            let end = drain_details(&mut follower, &mut events).unwrap();
            assert_eq!(end, End::NotYet);
            assert_eq!(events.len(), whole(&file, written.size()));
        }
    }
}

#[test]
fn zeros_that_are_filled_later_are_no_events_before() {
    for file in files() {
        let placeholder = file.clone().placeholder();
        let bytes = placeholder.bytes();
        let step = if bytes.len() < 5000 { 1 } else { 911 };
        for room in [bytes.len() as u64 + 4096, file.places()[file.events.len()]] {
            let written = Written::new("detail.atf");
            written.resize(room);
            let mut follower = DetailFollower::new(written.path());
            let mut events = Vec::new();
            for (number, piece) in bytes.chunks(step).enumerate() {
                let offset = (number * step) as u64;
                written.patch(offset, piece);
                drain_details(&mut follower, &mut events).unwrap();
                let filled = offset + piece.len() as u64;
                assert!(events.len() <= whole(&file, filled), "{filled}");
            }
            written.patch(0, &file.header());
            written.resize(bytes.len() as u64);
            let end = drain_details(&mut follower, &mut events).unwrap();
            assert_eq!(end, End::Finalized);
            assert_eq!(records(&events), file.events);
        }
    }
}

/// A length that is the footer's magic: only all of its bytes could make it an event.
#[test]
fn a_damaged_footer_is_never_an_event() {
    for version in [1, 2] {
        let file = DetailFile::finalized(version, 5).placeholder();
        let mut footer = file.footer();
        footer[16] ^= 1;
        assert_eq!(&footer[..4], MAGIC);
        let written = Written::new("detail.atf");
        let mut follower = DetailFollower::new(written.path());
        let mut events = Vec::new();
        written.append(&[file.without_footer(), footer, vec![1; 100]].concat());
        let end = drain_details(&mut follower, &mut events).unwrap();
        assert_eq!(end, End::NotYet);
        assert_eq!(records(&events), file.events);
        assert!(!follower.has_footer());
    }
}

/// A length that cannot be true in a finalized file, as a reader reports it.
#[test]
fn damage_inside_a_finalized_file_ends_it_where_a_reader_ends_it() {
    for length in [0_u32, 23, 1 << 30] {
        let file = DetailFile::finalized(1, 5);
        let place = file.places()[3];
        let written = Written::new("detail.atf");
        written.append(&file.bytes());
        written.patch(place, &length.to_le_bytes());
        let mut follower = DetailFollower::new(written.path());
        let mut events = Vec::new();
        let end = drain_details(&mut follower, &mut events).unwrap();
        assert_eq!(end, End::Finalized);
        assert_eq!(records(&events), file.events[..3]);
        let problem = follower.framing_problem().unwrap();
        assert_eq!(problem.offset(), Some(place));
        let reader = DetailReader::from_bytes(written.bytes()).unwrap();
        let read = reader.framing_problem().unwrap();
        assert_eq!(
            (problem.kind(), problem.field()),
            (read.kind(), read.field())
        );
        assert_eq!(reader.event_count(), 3);
    }
}
