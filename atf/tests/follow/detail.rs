//! Follows `detail.atf`.

use atf::ErrorKind;
use atf::detail::DetailReader;
use atf::follow::Polled;

use crate::FollowedDetail;
use atf_samples::files::{DetailFile, DetailRecord};

/// The footer's magic, `2DTA`. If it is read as an event's length, that length is more than a
/// gigabyte.
const MAGIC: &[u8; 4] = b"2DTA";

/// Returns the number of events that end at or before an offset.
fn whole(file: &DetailFile, size: u64) -> usize {
    let ends = &file.places()[1..];
    ends.iter().filter(|end| **end <= size).count()
}

#[test]
fn an_ordinary_event_is_returned_once_its_last_byte_is_written() {
    for version in [1, 2] {
        let file = DetailFile::finalized(version, 9).placeholder();
        let mut followed = FollowedDetail::new();
        for byte in file.without_footer() {
            followed.written.append(&[byte]);
            assert_eq!(followed.drain(), Polled::NotYet);
            assert_eq!(followed.events.len(), whole(&file, followed.written.size()));
        }
        let finalized = DetailFile::finalized(version, 9);
        followed.written.append(&finalized.footer());
        for (offset, byte) in finalized.header().iter().enumerate() {
            followed.written.patch(offset as u64, &[*byte]);
            followed.drain();
        }
        assert_eq!(followed.drain(), Polled::Finalized);
        assert_eq!(followed.records(), file.events);
        assert!(followed.follower.framing_problem().is_none());
        let reader = DetailReader::from_bytes(followed.written.bytes()).unwrap();
        assert_eq!(followed.follower.footer(), reader.footer());
    }
}

/// A length equal to the footer's magic begins an event only if the file contains all of the
/// event's bytes.
#[test]
fn a_damaged_footer_is_never_an_event() {
    for version in [1, 2] {
        let file = DetailFile::finalized(version, 5).placeholder();
        let mut footer = file.footer();
        footer[16] ^= 1;
        assert_eq!(&footer[..4], MAGIC);
        let bytes = [file.without_footer(), footer, vec![1; 100]].concat();
        let mut followed = FollowedDetail::new().with(&bytes);
        assert_eq!(followed.drain(), Polled::NotYet);
        assert_eq!(followed.records(), file.events);
        assert!(!followed.follower.has_footer());
    }
}

/// A follower reports an impossible length in a finalized file, just as a reader does.
#[test]
fn damage_in_a_finalized_file_is_reported_as_by_a_reader() {
    for length in [0_u32, 23, 1 << 30] {
        let file = DetailFile::finalized(1, 5);
        let place = file.places()[3];
        let mut followed = FollowedDetail::new().with(&file.bytes());
        followed.written.patch(place, &length.to_le_bytes());
        let reported = followed.try_drain().unwrap_err();
        assert_eq!(followed.drain(), Polled::Finalized);
        assert_eq!(followed.records(), file.events[..3]);
        let problem = followed.follower.framing_problem().unwrap();
        assert_eq!(reported.kind(), problem.kind());
        assert_eq!(problem.offset(), Some(place));
        let reader = DetailReader::from_bytes(followed.written.bytes()).unwrap();
        let read = reader.framing_problem().unwrap();
        assert_eq!(problem.kind(), read.kind());
        assert_eq!(problem.field(), read.field());
        assert_eq!(reader.event_count(), 3);
    }
}

#[test]
fn function_payloads_are_decoded_up_to_the_largest() {
    let mut larger = DetailRecord::call(3, 2000, u16::MAX);
    larger.payload.push(0);
    let largest = DetailRecord::call(0, 1000, u16::MAX);
    let small = DetailRecord::call(6, 3000, 3);
    let bytes = DetailFile::new(1, vec![largest, larger, small]).bytes();
    let mut followed = FollowedDetail::new().with(&bytes);
    let mut stacks = Vec::new();
    while let Polled::New(event) = followed.follower.poll().unwrap() {
        let payload = followed.follower.function_payload(&event).unwrap();
        stacks.push(payload.map(|payload| payload.stack.len()));
    }
    assert_eq!(stacks, [Some(65_535), None, Some(3)]);
}

/// A header's claims about the five events before the tested offset.
#[derive(Debug, Clone, Copy)]
enum Stated {
    /// Nothing: the header is a placeholder.
    Nothing,
    /// The events' length, but a different count.
    Length,
    /// The events' length and count.
    Both,
    /// The events' count, but a different length.
    Other,
}

/// Asserts how many events a follower returns from a file of five events, followed by the bytes in
/// `after`.
#[track_caller]
fn assert_given(stated: Stated, after: &[Vec<u8>], count: usize) {
    let mut file = DetailFile::finalized(1, 5);
    match stated {
        Stated::Nothing => file = file.placeholder(),
        Stated::Length => file.header_count = 3,
        Stated::Both => {}
        Stated::Other => file.header_bytes += 8,
    }
    let mut followed =
        FollowedDetail::new().with(&[file.without_footer(), after.concat()].concat());
    assert_eq!(followed.drain(), Polled::NotYet);
    let size = after.concat().len();
    assert_eq!(followed.events.len(), count, "{stated:?}, {size} bytes");
}

/// Returns an event of `size` bytes.
fn event(size: usize, timestamp: u64) -> Vec<u8> {
    let record = DetailRecord::new(3, 15, timestamp, vec![1; size - 24]);
    DetailFile::new(1, vec![record]).section()
}

/// Returns the length of the five events, which a footer stores where an event has its timestamp.
fn length() -> u64 {
    DetailFile::finalized(1, 5).footer_bytes
}

#[test]
fn events_of_any_size_are_returned_after_a_placeholder() {
    for size in [24, 63, 64, 65, 200] {
        assert_given(Stated::Nothing, &[event(size, 1)], 6);
        let count = 6 - usize::from(size < 64);
        assert_given(Stated::Nothing, &[event(size, length())], count);
    }
    let mut too_short = event(24, 1);
    too_short[0] = 23;
    assert_given(Stated::Nothing, &[too_short, vec![1; 99]], 5);
}

#[test]
fn no_event_is_returned_after_the_end_in_a_confirmed_header() {
    for timestamp in [1, length()] {
        let next = event(100, timestamp);
        assert_given(Stated::Both, &[next.clone(), event(100, 1)], 5);
        assert_given(Stated::Both, &[next], 5);
    }
    // If the header's length is wrong, its count proves nothing.
    assert_given(Stated::Other, &[event(64, 1)], 6);
}

#[test]
fn no_event_overlaps_the_footer_that_a_header_states_at_the_end_of_the_file() {
    // According to the header, the footer begins 8 bytes after the start of the last event.
    for (size, count) in [(71, 6), (72, 5), (73, 6)] {
        assert_given(Stated::Other, &[event(size, 1)], count);
    }
}

/// The header's length is correct but its count is not, so a footer is possible only where there is
/// room for one.
#[test]
fn an_event_is_returned_where_a_stated_footer_would_not_fit() {
    for timestamp in [1, length()] {
        for (size, count) in [(24, 5), (64, 5), (65, 6)] {
            assert_given(Stated::Length, &[event(size, timestamp)], count);
        }
    }
}

#[test]
fn a_footer_without_its_magic_is_an_event_once_bytes_follow_it() {
    let mut footer = DetailFile::finalized(1, 5).footer();
    // An event's length in place of the magic.
    footer[..4].copy_from_slice(&64_u32.to_le_bytes());
    assert_given(Stated::Nothing, std::slice::from_ref(&footer), 5);
    assert_given(Stated::Nothing, &[footer.clone(), vec![0; 40]], 5);
    assert_given(Stated::Nothing, &[footer, event(100, 1)], 7);
}

/// A header may be read while it is only half written, so its contents count only once they stop
/// changing.
#[test]
fn a_header_that_disagrees_with_the_footer_ends_the_file_at_the_second_poll() {
    let mut file = DetailFile::finalized(1, 5);
    let mut followed = FollowedDetail::new().with(&file.clone().placeholder().bytes());
    assert_eq!(followed.drain(), Polled::NotYet);
    // As long as the header is a placeholder, polling again changes nothing.
    assert_eq!(followed.follower.poll().unwrap(), Polled::NotYet);
    file.header_count = 4;
    followed.written.patch(0, &file.header());
    assert_eq!(followed.follower.poll().unwrap(), Polled::NotYet);
    // The header is now wrong in a different way, so the follower reads these contents for the
    // first time.
    (file.header_count, file.header_bytes) = (5, file.header_bytes + 1);
    followed.written.patch(0, &file.header());
    assert_eq!(followed.follower.poll().unwrap(), Polled::NotYet);
    assert_eq!(followed.follower.poll().unwrap(), Polled::Finalized);
    assert_eq!(followed.records(), file.events);
}

#[test]
fn bytes_before_a_verified_footer_that_are_not_events_are_reported_as_by_a_reader() {
    for size in [1, 23, 24, 40] {
        let mut file = DetailFile::finalized(1, 5);
        let section = [file.section(), vec![1; size]].concat();
        file.header_bytes = section.len() as u64;
        file.footer_bytes = section.len() as u64;
        file.checksum = crc32c::crc32c(&section);
        let mut followed =
            FollowedDetail::new().with(&[file.header(), section, file.footer()].concat());
        // The follower reports them only once.
        followed.try_drain().unwrap_err();
        assert_eq!(followed.drain(), Polled::Finalized);
        assert_eq!(followed.events.len(), 5);
        let reader = DetailReader::from_bytes(followed.written.bytes()).unwrap();
        let problem = followed.follower.framing_problem().unwrap();
        let read = reader.framing_problem().unwrap();
        assert_eq!(problem.kind(), read.kind());
        let is_cut_short = matches!(read.kind(), ErrorKind::TornEvent { .. });
        assert_eq!(is_cut_short, size < 24);
    }
}

#[test]
fn events_that_begin_past_the_end_of_the_file_are_awaited() {
    let file = DetailFile {
        events_offset: 4096,
        ..DetailFile::finalized(1, 3).placeholder()
    };
    let mut followed = FollowedDetail::new().with(&file.header());
    assert_eq!(followed.follower.poll().unwrap(), Polled::NotYet);
}
