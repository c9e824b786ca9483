//! Tests the possible contents of a header, a footer and a checksum in `index.atf`, and the ways in
//! which a file without a footer can end.

use atf::index::{Hole, IndexReader};
use atf::{Checksum, Completeness, CountSource, ErrorKind, PartialFooter, Wire};

use crate::{events, expected, ways};
use atf_samples::files::{IndexFile, padded, patched};

fn open(file: &IndexFile) -> IndexReader {
    ways::index(file.bytes()).unwrap()
}

#[test]
fn all_events_of_a_finalized_file_are_returned() {
    for version in [1, 2] {
        let file = IndexFile::finalized(version, 10);
        let index = open(&file);
        assert_eq!(events(&index), expected(&file));
        assert!(matches!(index.completeness(), Completeness::Finalized));
        assert_eq!(index.count_source(), CountSource::Footer);
        assert_eq!(index.checksum().unwrap(), Checksum::Good);
        assert_eq!(index.footer_offset(), Some(64 + 320));
        assert_eq!(index.time_range().unwrap(), Some(file.footer_times));
        assert_eq!(index.footer_bytes().unwrap()[..], file.footer());
        assert_eq!(index.header_bytes()[..], file.header());
        assert!(index.disagreements().is_empty());
    }
}

#[test]
fn a_rejected_file_reports_the_kind_of_its_fault() {
    let [v1, v2] = [1, 2].map(|version| IndexFile::finalized(version, 32).bytes());
    let size = v1.len() as u64;
    let wrong_layout = |version, layout| ErrorKind::WrongLayoutForVersion { version, layout };
    let magic = |found, expected| ErrorKind::BadMagic { found, expected };
    let endian = |found, expected| ErrorKind::BadEndian { found, expected };
    let event_size = |found, expected| ErrorKind::BadEventSize { found, expected };
    let unproven = |found| ErrorKind::UnprovenEventsOffset { found };
    let too_short = |found, needed| ErrorKind::TooShort { found, needed };
    let offset = |found| ErrorKind::BadEventsOffset {
        found,
        min: 64,
        max: size,
    };
    for (bytes, kind) in [
        (patched(&v1, 0, b"ATD2"), magic(*b"ATD2", *b"ATI2")),
        (patched(&v1, 4, &[2]), endian(2, 1)),
        (
            patched(&v1, 5, &[3]),
            ErrorKind::UnknownVersion { found: 3 },
        ),
        (patched(&v1, 24, &[33]), event_size(33, 32)),
        (patched(&v1, 32, &[63]), offset(63)),
        (patched(&v1, 32, &[0xff; 8]), offset(u64::MAX)),
        (patched(&v1, 32, &[65]), unproven(65)),
        (v1[..63].to_vec(), too_short(63, 64)),
        (Vec::new(), ErrorKind::NothingWritten),
        // With 32 events, a header of version 2 looks like a placeholder of version 1.
        (patched(&v1, 5, &[2]), wrong_layout(Wire::V2, Wire::V1)),
        (patched(&v2, 5, &[1]), wrong_layout(Wire::V1, Wire::V2)),
    ] {
        assert_eq!(ways::index(bytes).unwrap_err().kind(), &kind);
    }
}

#[test]
fn a_footer_without_events_may_have_a_placeholder_header() {
    for (footer_offset, footer_times) in [(0, (0, 0)), (64, (1, 0)), (64, (0, 1))] {
        let file = IndexFile {
            footer_offset,
            footer_times,
            ..IndexFile::finalized(1, 0).placeholder()
        };
        let index = open(&file);
        let completeness = index.completeness();
        assert!(matches!(completeness, Completeness::HeaderNotUpdated));
    }
}

#[test]
fn zeros_among_the_events_are_holes() {
    for version in [1, 2] {
        let mut file = IndexFile::finalized(version, 600);
        file.checksum = 0;
        let bytes = patched(&file.bytes(), 64 + 32 * 5, &[0; 32 * 3]);
        let bytes = patched(&bytes, 64 + 32 * 100, &[0; 32 * 300]);
        let index = ways::index(bytes).unwrap();
        let holes: Vec<Hole> = index.holes().collect::<Result<_, _>>().unwrap();
        let hole = |seq, count| Hole { seq, count };
        assert_eq!(holes, [hole(5, 3), hole(100, 300)]);
        assert_eq!(index.event_count(), 600);
        for seq in [8, 400] {
            let event = &expected(&file)[seq];
            assert_eq!(index.get(seq as u64).unwrap().as_ref(), Some(event));
        }
    }
}

#[test]
fn only_events_in_memory_are_available_as_a_slice() {
    let bytes = IndexFile::finalized(1, 9).bytes();
    let index = IndexReader::from_bytes(bytes.clone()).unwrap();
    assert_eq!(index.slice(2..4).unwrap().as_bytes(), &bytes[128..192]);
    assert!(index.slice(4..4).unwrap().is_empty());
    let seekable = atf::Seekable::new(std::io::Cursor::new(bytes)).unwrap();
    let index = IndexReader::from_source(seekable).unwrap();
    assert!(index.slice(2..4).is_none());
}

#[test]
fn checksums_are_crc_32c() {
    assert_eq!(atf_samples::files::crc32c(b"123456789"), 0xE306_9283);
    assert_eq!(crc32c::crc32c(b"123456789"), 0xE306_9283);
}

#[test]
fn wire_versions_are_displayed_by_number() {
    assert_eq!(Wire::V1.to_string(), "wire version 1");
    assert_eq!(Wire::V2.to_string(), "wire version 2");
}

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

/// Truncates files after every byte and fills them with zeros, as in preallocated space.
/// `atf-safety exhaustive` truncates files without adding zeros, and flips their bits. The number of
/// zeros varies, because readers search for the last other byte in blocks.
#[test]
fn an_index_file_with_zeros_after_any_cut_has_its_whole_events_and_at_most_the_torn_one() {
    // The offset in an event of its kind, the last byte that is not 0. In version 1, the missing
    // last bytes of a torn event cannot be distinguished from the zero bytes of small numbers.
    for (file, kind_at) in [
        (IndexFile::finalized(2, 9), 24),
        (IndexFile::finalized(2, 9).placeholder(), 24),
        (IndexFile::finalized(1, 9).placeholder(), 20),
    ] {
        let bytes = file.bytes();
        for size in 64..bytes.len() {
            let cut = IndexReader::from_bytes(padded(&bytes[..size], 4096 + size % 130)).unwrap();
            let whole = ((size - 64) / 32).min(9);
            let has_kind = whole < 9 && (size - 64) % 32 > kind_at;
            let most = whole + usize::from(has_kind);
            let least = if file.version == 2 { most } else { whole };
            let read = events(&cut);
            assert_eq!(read[..least], expected(&file)[..least], "{size} bytes");
            assert!(read.len() <= most, "{size} bytes");
        }
    }
}
