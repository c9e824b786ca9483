//! Tests the ways in which an `index.atf` without a footer can end.

use atf::index::IndexReader;
use atf::{CountSource, PartialFooter};

use crate::ways;
use crate::{events, expected};
use atf_samples::files::{IndexFile, padded};

/// Returns how the file ends, as [`crate::tail`] does.
fn tail(index: &IndexReader) -> (u64, u64, Option<PartialFooter>) {
    assert_eq!(index.count_source(), CountSource::FileSize);
    crate::tail(index.completeness())
}

#[test]
fn a_torn_footer_before_zeros_is_not_an_event() {
    for version in [1, 2] {
        let file = IndexFile::finalized(version, 10).placeholder();
        for size in 1..64 {
            // A footer does not fit into 63 bytes, and 32 bytes have the size of an event.
            for end in [32, 33, 40, 63, 64, 65, 95, 96, 97, 4096] {
                let bytes = padded(&file.bytes()[..384 + size], end.max(size) - size);
                let index = ways::index(bytes).unwrap();
                assert_eq!(events(&index), expected(&file), "{size} of {end}");
            }
        }
    }
}

/// The footer spans two sectors, and the first of them never reached the disk.
#[test]
fn the_end_of_a_footer_after_zeros_is_not_an_event() {
    for version in [1, 2] {
        for lost in [0, 3] {
            let file = IndexFile::finalized(version, 13).placeholder();
            let mut bytes = file.bytes();
            // The events in the lost sector are also zeros, and still count as holes.
            bytes[480 - 32 * lost..512].fill(0);
            let index = ways::index(bytes).unwrap();
            assert_eq!(index.event_count(), 13);
            let (.., partial) = tail(&index);
            assert_eq!(partial.unwrap().offset, 480);
        }
    }
}

#[test]
fn events_that_look_like_a_footer_except_for_reserved_bytes_are_events() {
    for version in [1, 2] {
        let mut file = IndexFile::finalized(version, 5).placeholder();
        for event in &mut file.events {
            event.timestamp_ns = 0;
        }
        let mut bytes = file.without_footer();
        let at = bytes.len() - 64;
        bytes[at..].fill(0);
        bytes[at..at + 4].copy_from_slice(b"2ITA");
        // If these bytes are read as a footer, the start time at byte 16 is 0, which is also the
        // first event's time. The reserved bytes end at byte 64.
        bytes[at + 59..at + 61].copy_from_slice(&[7, 9]);
        let index = ways::index(bytes).unwrap();
        assert_eq!((index.event_count(), tail(&index)), (5, (0, 0, None)));
    }
}

/// The header's offset for the footer is then 32 bytes after the footer, so half of it looks like
/// the last event.
#[test]
fn the_footer_of_a_finalized_file_without_one_of_its_events_is_not_an_event() {
    for version in [1, 2] {
        let file = IndexFile::finalized(version, 10);
        for zeros in [0, 1, 31, 32] {
            let mut bytes = padded(&file.bytes(), zeros);
            bytes.drain(64 + 32 * 9..64 + 32 * 10);
            let index = ways::index(bytes).unwrap();
            assert_eq!(events(&index), expected(&file)[..9], "{zeros}");
        }
    }
}

#[test]
fn a_torn_footer_of_an_empty_file_is_not_an_event() {
    for version in [1, 2] {
        let bytes = IndexFile::finalized(version, 0).placeholder().bytes();
        let mut file = IndexFile::finalized(version, 0).placeholder();
        file.footer_times = (5, 1 << 40);
        for bytes in [bytes, file.bytes()] {
            for size in 32..64 {
                let index = ways::index(&bytes[..64 + size]).unwrap();
                assert_eq!(index.event_count(), 0, "{size}");
            }
        }
    }
}
