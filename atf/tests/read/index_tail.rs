//! Tests the ways in which an `index.atf` without a footer can end.

use atf::index::IndexReader;
use atf::{Completeness, CountSource, PartialFooter};

use crate::ways;
use crate::{events, expected};
use atf_samples::files::{EventRecord, IndexFile, padded};

const MAGIC: u64 = 0x4154_4932;

/// Returns the number of trailing bytes, the size of the zero tail and the torn footer.
fn tail(index: &IndexReader) -> (u64, u64, Option<PartialFooter>) {
    assert_eq!(index.count_source(), CountSource::FileSize);
    let Completeness::Unfinalized {
        trailing_bytes,
        zero_tail_bytes,
        partial_footer,
        ..
    } = index.completeness()
    else {
        panic!("{:?}", index.completeness())
    };
    (*trailing_bytes, *zero_tail_bytes, *partial_footer)
}

#[test]
fn all_whole_events_are_read_and_the_rest_is_reported() {
    for version in [1, 2] {
        let file = IndexFile::finalized(version, 10).placeholder();
        for trailing in 0..32 {
            let bytes = [file.without_footer(), vec![0xee; trailing]].concat();
            let index = ways::index(bytes).unwrap();
            assert_eq!(events(&index), expected(&file));
            assert_eq!(tail(&index), (trailing as u64, 0, None));
        }
    }
}

#[test]
fn zeros_at_the_end_are_not_events() {
    for version in [1, 2] {
        let file = IndexFile::finalized(version, 10).placeholder();
        for zeros in [32, 63, 64, 100, 65536, 300_001] {
            let index = ways::index(padded(&file.without_footer(), zeros)).unwrap();
            assert_eq!(events(&index), expected(&file));
            assert_eq!(tail(&index), (0, zeros as u64, None));
        }
        for zeros in [32, 64, 65536] {
            let index = ways::index(padded(&file.header(), zeros)).unwrap();
            assert_eq!(index.event_count(), 0);
            assert_eq!(tail(&index), (0, zeros as u64, None));
        }
    }
}

#[test]
fn zeros_before_a_partial_event_are_trailing_bytes() {
    for version in [1, 2] {
        let mut file = IndexFile::finalized(version, 10).placeholder();
        let bytes = [padded(&file.without_footer(), 320), vec![0xee; 5]].concat();
        let index = ways::index(bytes).unwrap();
        assert_eq!(events(&index), expected(&file));
        assert_eq!(tail(&index), (325, 0, None));
        // The zeros show that the event before them is torn.
        file.events[9].kind = 0;
        let bytes = [padded(&file.without_footer(), 320), vec![0xee; 5]].concat();
        let index = ways::index(bytes).unwrap();
        assert_eq!(events(&index), expected(&file)[..9]);
        assert_eq!(tail(&index), (357, 0, None));
    }
}

#[test]
fn an_event_torn_before_zeros_is_not_an_event() {
    for (version, sizes) in [(1, 1..=20), (2, 1..=24)] {
        let mut file = IndexFile::finalized(version, 10).placeholder();
        // The written part of the torn event must not end in zeros, which could not be told apart
        // from missing bytes.
        file.events[9].timestamp_ns = u64::MAX;
        file.events[9].function_id = u64::MAX;
        file.events[9].detail_seq = Some(if version == 1 { 1 } else { u64::MAX - 1 });
        file.thread_id = u32::MAX;
        let bytes = file.without_footer();
        for size in sizes {
            let torn = padded(&bytes[..64 + 32 * 9 + size], 4096);
            let index = ways::index(torn).unwrap();
            assert_eq!(events(&index), expected(&file)[..9], "{size}");
            assert_eq!(tail(&index), (size as u64, 4096, None));
        }
    }
}

#[test]
fn a_torn_footer_is_not_an_event() {
    for version in [1, 2] {
        for file in [
            IndexFile::finalized(version, 10),
            IndexFile::finalized(version, 10).placeholder(),
        ] {
            let bytes = file.bytes();
            for size in 4..64 {
                let index = ways::index(&bytes[..384 + size]).unwrap();
                assert_eq!(events(&index), expected(&file));
                let partial = PartialFooter {
                    offset: 384,
                    size: size as u64,
                };
                assert_eq!(tail(&index), (0, 0, Some(partial)));
            }
        }
    }
}

#[test]
fn a_torn_footer_before_zeros_is_not_an_event() {
    for version in [1, 2] {
        let file = IndexFile::finalized(version, 10).placeholder();
        for size in 1..64 {
            // Up to 63 bytes have no room for a footer, and 32 bytes are as long as an event.
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
            let Some(partial) = tail(&index).2 else {
                panic!("no partial footer");
            };
            assert_eq!(partial.offset, 480);
        }
    }
}

#[test]
fn a_torn_footer_with_a_wrong_count_is_recognized_by_its_time() {
    let mut file = IndexFile::finalized(1, 10).placeholder();
    file.footer_count = 11;
    let index = ways::index(&file.bytes()[..384 + 40]).unwrap();
    assert_eq!(events(&index), expected(&file));
}

#[test]
fn events_that_look_like_a_footer_but_for_its_reserved_bytes_are_events() {
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

#[test]
fn a_first_timestamp_with_the_magic_of_a_footer_is_an_event() {
    let timestamp_ns = MAGIC | 0x0004_62d5 << 32;
    assert_eq!(timestamp_ns.to_le_bytes()[..4], *b"2ITA");
    for version in [1, 2] {
        for count in 1..4 {
            for footer_offset in [0, 64] {
                let mut file = IndexFile::finalized(version, count).placeholder();
                file.footer_offset = footer_offset;
                file.events[0].timestamp_ns = timestamp_ns;
                let index = ways::index(file.without_footer()).unwrap();
                assert_eq!(events(&index), expected(&file));
                assert_eq!(tail(&index), (0, 0, None));
            }
        }
    }
}

#[test]
fn a_last_timestamp_with_the_magic_of_a_footer_is_an_event() {
    for version in [1, 2] {
        for seq in [8, 9] {
            let mut file = IndexFile::finalized(version, 10).placeholder();
            file.events[seq].timestamp_ns = MAGIC;
            let index = ways::index(file.without_footer()).unwrap();
            assert_eq!(events(&index), expected(&file));
        }
    }
}

#[test]
fn a_truncated_finalized_file_is_recognized_by_its_header() {
    let file = IndexFile::finalized(2, 10);
    let index = ways::index(&file.bytes()[..64 + 32 * 7 + 3]).unwrap();
    assert_eq!(events(&index), expected(&file)[..7]);
    assert_eq!(tail(&index), (3, 0, None));
    assert!(!index.header().is_placeholder());
    let wrong = index.disagreements();
    assert_eq!(
        wrong[0].to_string(),
        "header.event_count: 10, the file has 7 (at 0x18)"
    );
}

#[test]
fn the_footer_that_never_reached_the_disk_is_a_zero_tail() {
    // The last byte of an event without a link is not 0.
    let file = IndexFile::finalized(1, 11);
    let index = ways::index(padded(&file.without_footer(), 64)).unwrap();
    assert_eq!(events(&index), expected(&file));
    assert_eq!(tail(&index), (0, 64, None));
}

#[test]
fn a_last_event_of_zeros_without_a_checksum_is_a_hole() {
    let zero = EventRecord {
        timestamp_ns: 0,
        function_id: 0,
        kind: 0,
        depth: 0,
        detail_seq: Some(0),
    };
    let mut file = IndexFile::finalized(2, 3);
    file.events.push(zero);
    let file = IndexFile {
        checksum: 0,
        ..IndexFile::of(2, file.events)
    };
    let index = ways::index(file.bytes()).unwrap();
    assert_eq!(index.event_count(), 4);
    assert_eq!(index.holes().count(), 1);
}

#[test]
fn torn_bytes_at_the_footer_offset_of_a_rewritten_header_are_a_footer() {
    for version in [1, 2] {
        let file = IndexFile::finalized(version, 10);
        for size in [32, 40, 63] {
            let bytes = [file.without_footer(), vec![0xee; size]].concat();
            let index = ways::index(bytes).unwrap();
            assert_eq!(events(&index), expected(&file));
            let partial = PartialFooter {
                offset: 384,
                size: size as u64,
            };
            assert_eq!(tail(&index), (0, 0, Some(partial)));
        }
    }
}

/// The header's offset for the footer is then 32 bytes after the footer, so that half of it looks
/// like the last event.
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
