//! Tests the possible contents of a header, events and a footer in `detail.atf`.

use atf::detail::DetailReader;
use atf::{Checksum, Completeness, CountSource};

use crate::{details, ways};
use atf_samples::files::{DetailFile, DetailRecord, padded};

pub(crate) fn open(file: &DetailFile) -> DetailReader {
    ways::detail(file.bytes()).unwrap()
}

#[test]
fn all_events_of_a_finalized_file_are_returned() {
    for version in [1, 2] {
        let file = DetailFile::finalized(version, 10);
        let detail = open(&file);
        assert_eq!(details(&detail), file.events);
        assert!(matches!(detail.completeness(), Completeness::Finalized));
        assert_eq!(detail.count_source(), CountSource::Footer);
        assert_eq!(detail.checksum().unwrap(), Checksum::Good);
        assert_eq!(detail.time_range().unwrap(), Some(file.footer_times));
        assert_eq!(detail.footer_bytes().unwrap()[..], file.footer());
        assert_eq!(detail.header_bytes()[..], file.header());
        assert!(detail.framing_problem().is_none());
        assert!(detail.disagreements().is_empty());
    }
}

/// The expected checksums are computed bit by bit.
#[test]
fn the_checksum_of_a_section_of_any_length_is_verified() {
    for size in 0..600_u16 {
        let payload = (0..size).map(|byte| byte.to_le_bytes()[0]).collect();
        let bytes = DetailFile::new(1, vec![DetailRecord::new(9, 0, 5, payload)]).bytes();
        let detail = DetailReader::from_bytes(bytes).unwrap();
        assert_eq!(detail.checksum().unwrap(), Checksum::Good, "{size}");
    }
}

#[test]
fn a_footer_that_the_header_misplaces_is_found_before_other_bytes() {
    for version in [1, 2] {
        for garbage in [1, 24, 64, 1000] {
            // According to the header, the footer is at the end of the file.
            let mut file = DetailFile::finalized(version, 6);
            file.header_bytes += garbage as u64;
            let bytes = [file.bytes(), vec![0xee; garbage]].concat();
            let detail = ways::detail(bytes).unwrap();
            assert_eq!(details(&detail), file.events);
            assert!(detail.completeness().has_verified_footer());
            assert_eq!(detail.bytes_after_footer(), garbage as u64);
        }
    }
}

#[test]
fn a_header_whose_length_and_count_are_confirmed_ends_the_events() {
    for version in [1, 2] {
        let mut file = DetailFile::finalized(version, 5);
        let end = file.places()[5];
        // A single event of 64 bytes has the size of a footer.
        let single = DetailFile::new(version, vec![DetailRecord::new(3, 9, 9, vec![1; 40])]);
        let two = DetailFile::finalized(version, 2);
        for behind in [&single, &two] {
            let bytes = [file.without_footer(), behind.section()].concat();
            let detail = ways::detail(bytes).unwrap();
            assert_eq!(details(&detail), file.events);
            let Completeness::DamagedFooter { problems, .. } = detail.completeness() else {
                panic!("{:?}", detail.completeness())
            };
            let place = (problems[0].field(), problems[0].offset());
            assert_eq!(place, (Some("footer.magic"), Some(end)));
            assert_eq!((detail.events_end(), detail.missing_events()), (end, 0));
        }
        // If the header's count is wrong, its length proves nothing.
        file.header_count = 4;
        let bytes = [file.without_footer(), two.section()].concat();
        let detail = ways::detail(bytes).unwrap();
        assert_eq!(detail.event_count(), 7);
        assert_eq!(crate::tail(detail.completeness()), (0, 0, None));
    }
}

#[test]
fn no_event_is_missing_if_a_verified_footer_counts_them() {
    let mut file = DetailFile::finalized(1, 5);
    file.header_count = 9;
    assert_eq!(open(&file).missing_events(), 0);
    let cut = ways::detail(file.without_footer()).unwrap();
    assert_eq!(cut.missing_events(), 4);
}

#[test]
fn a_header_with_any_nonzero_number_is_not_a_placeholder() {
    let is_placeholder = |count, bytes, start, end| {
        let file = DetailFile {
            header_count: count,
            header_bytes: bytes,
            index_seqs: (start, end),
            ..DetailFile::finalized(1, 0)
        };
        open(&file).header().is_placeholder()
    };
    assert!(is_placeholder(0, 0, 0, 0));
    for (count, bytes, start, end) in [(1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)] {
        assert!(!is_placeholder(count, bytes, start, end));
    }
}

#[test]
fn a_header_with_a_count_but_no_length_does_not_end_the_events() {
    let mut file = DetailFile::new(1, vec![DetailRecord::call(0, 1, 0)]);
    file.events[0].payload.truncate(40);
    (file.header_count, file.header_bytes) = (1, 0);
    let bytes = file.without_footer();
    // The only event has the size of a footer and comes directly after the header.
    assert_eq!(bytes.len(), 128);
    let detail = ways::detail(bytes).unwrap();
    assert_eq!(details(&detail), file.events);

    // Without a count, the header's length proves nothing either.
    let mut file = DetailFile::finalized(1, 5);
    file.header_count = 0;
    let behind = DetailFile::new(1, vec![DetailRecord::call(15, 1, 0)]).section();
    let mut behind = behind[..64].to_vec();
    behind[0] = 64;
    let detail = ways::detail([file.without_footer(), behind].concat()).unwrap();
    assert_eq!(detail.event_count(), 6);
}

#[test]
fn size_hints_are_never_exceeded() {
    let detail = open(&DetailFile::finalized(1, 5));
    let mut events = detail.events_in(..);
    for left in (0..=5).rev() {
        let (least, most) = events.size_hint();
        assert!(least <= left && most == Some(left), "{left}");
        assert_eq!(events.next().is_some(), left > 0);
    }
}

/// Like the test of `index.atf`.
#[test]
fn a_detail_file_with_zeros_after_any_cut_has_its_whole_events_and_at_most_the_torn_one() {
    for version in [1, 2] {
        let file = DetailFile::finalized(version, 9).placeholder();
        let bytes = file.bytes();
        let places = file.places();
        for size in 64..bytes.len() {
            let cut = DetailReader::from_bytes(padded(&bytes[..size], 4096 + size % 130)).unwrap();
            let is_whole = |end: &&u64| **end <= size as u64;
            let whole = places[1..].iter().filter(is_whole).count();
            let read = details(&cut);
            assert_eq!(read[..whole], file.events[..whole], "{size} bytes");
            // The timestamp is the last field of an event's header.
            let torn = places.get(whole);
            let has_timestamp = torn.is_some_and(|start| size as u64 > start + 16);
            let most = whole + usize::from(has_timestamp);
            assert!(read.len() <= most, "{size} bytes");
        }
    }
}
