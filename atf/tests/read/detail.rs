//! Tests the possible contents of a header, events and a footer in `detail.atf`.

use atf::detail::DetailReader;
use atf::{Checksum, Completeness, CountSource, ErrorKind, PartialFooter};

use crate::details;
use crate::ways;
use atf_samples::files::{DetailFile, DetailRecord, padded, patched};

pub(crate) fn open(file: &DetailFile) -> DetailReader {
    ways::detail(file.bytes()).unwrap()
}

pub(crate) fn place(file: &DetailFile, seq: usize) -> usize {
    usize::try_from(file.places()[seq]).unwrap()
}

pub(crate) fn damage(detail: &DetailReader) -> Vec<(String, u64)> {
    let Completeness::DamagedFooter { problems, .. } = detail.completeness() else {
        panic!("{:?}", detail.completeness())
    };
    problems
        .iter()
        .map(|p| (p.field().unwrap().to_owned(), p.offset().unwrap()))
        .collect()
}

/// Returns the number of trailing bytes, the size of the zero tail and the torn footer.
pub(crate) fn tail(detail: &DetailReader) -> (u64, u64, Option<PartialFooter>) {
    let Completeness::Unfinalized {
        trailing_bytes,
        zero_tail_bytes,
        partial_footer,
        ..
    } = detail.completeness()
    else {
        panic!("{:?}", detail.completeness())
    };
    (*trailing_bytes, *zero_tail_bytes, *partial_footer)
}

#[test]
fn a_finalized_file_gives_all_events() {
    for version in [1, 2] {
        let file = DetailFile::finalized(version, 10);
        let detail = open(&file);
        assert_eq!(details(&detail, &file), file.events);
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

#[test]
fn an_empty_file_is_finalized() {
    for version in [1, 2] {
        let detail = open(&DetailFile::finalized(version, 0));
        assert_eq!(detail.event_count(), 0);
        assert!(matches!(detail.completeness(), Completeness::Finalized));
        assert_eq!(detail.time_range().unwrap(), None);
    }
}

#[test]
fn an_invalid_detail_header_is_rejected_at_its_field() {
    let bytes = DetailFile::finalized(1, 3).bytes();
    let size = bytes.len() as u64;
    let cases = [
        (
            patched(&bytes, 0, b"ATI2"),
            ErrorKind::BadMagic {
                found: *b"ATI2",
                expected: *b"ATD2",
            },
            0,
        ),
        (
            patched(&bytes, 4, &[0]),
            ErrorKind::BadEndian {
                found: 0,
                expected: 1,
            },
            4,
        ),
        (
            patched(&bytes, 5, &[3]),
            ErrorKind::UnknownVersion { found: 3 },
            5,
        ),
        (
            patched(&bytes, 20, &[63]),
            ErrorKind::BadEventsOffset {
                found: 63,
                min: 64,
                max: size,
            },
            20,
        ),
        (
            patched(&bytes, 20, &[65]),
            ErrorKind::UnprovenEventsOffset { found: 65 },
            20,
        ),
        (
            patched(&bytes, 20, &[0xff; 8]),
            ErrorKind::BadEventsOffset {
                found: u64::MAX,
                min: 64,
                max: size,
            },
            20,
        ),
    ];
    for (bytes, kind, offset) in cases {
        let error = ways::detail(bytes).unwrap_err();
        assert_eq!((error.kind(), error.offset()), (&kind, Some(offset)));
    }
}

#[test]
fn events_smaller_than_a_footer_are_not_lost_without_one() {
    for version in [1, 2] {
        let bare = |seq| DetailRecord {
            event_type: 3,
            index_seq: seq,
            timestamp: 1 + seq,
            payload: vec![],
        };
        let file = DetailFile::of(version, (0..5).map(bare).collect()).placeholder();
        let detail = ways::detail(file.without_footer()).unwrap();
        assert_eq!(details(&detail, &file), file.events);
        assert_eq!(detail.count_source(), CountSource::Framing);
    }
}

#[test]
fn an_impossible_length_ends_the_events_and_is_reported() {
    for version in [1, 2] {
        let file = DetailFile::finalized(version, 6);
        let (start, end) = (place(&file, 3), place(&file, 6));
        let available = (end - start) as u64;
        for found in [0, 23, u32::try_from(available).unwrap() + 1, u32::MAX] {
            let bytes = patched(&file.bytes(), start, &found.to_le_bytes());
            let detail = ways::detail(bytes).unwrap();
            assert_eq!(details(&detail, &file), file.events[..3]);
            assert!(matches!(detail.completeness(), Completeness::Finalized));
            assert_eq!(detail.count_source(), CountSource::Framing);
            let problem = detail.framing_problem().unwrap();
            let kind = ErrorKind::BadTotalLength {
                found,
                min: 24,
                available,
            };
            assert_eq!(problem.kind(), &kind);
            assert_eq!(problem.field(), Some("events[3].total_length"));
            assert_eq!(problem.offset(), Some(start as u64));
        }
    }
}

#[test]
fn an_event_of_24_bytes_followed_by_a_payload_ends_the_events() {
    let file = DetailFile::finalized(1, 6);
    let bytes = patched(&file.bytes(), place(&file, 3), &24_u32.to_le_bytes());
    let detail = ways::detail(bytes).unwrap();
    assert_eq!(detail.event_count(), 4);
    assert_eq!(
        detail.framing_problem().unwrap().offset(),
        Some(file.places()[3] + 24)
    );
    assert!(matches!(detail.checksum().unwrap(), Checksum::Bad { .. }));
}

#[test]
fn bytes_between_the_last_event_and_the_footer_are_reported() {
    let mut file = DetailFile::finalized(1, 3);
    file.header_bytes += 5;
    file.footer_bytes += 5;
    let bytes = [file.without_footer(), vec![7; 5], file.footer()].concat();
    let detail = ways::detail(bytes).unwrap();
    assert_eq!(details(&detail, &file), file.events);
    let kind = ErrorKind::TornEvent {
        available: 5,
        needed: 24,
    };
    assert_eq!(detail.framing_problem().unwrap().kind(), &kind);
}

#[test]
fn an_impossible_length_is_reported_without_a_footer_too() {
    let file = DetailFile::finalized(1, 6).placeholder();
    let bytes = patched(
        &file.without_footer(),
        place(&file, 3),
        &23_u32.to_le_bytes(),
    );
    let detail = ways::detail(bytes).unwrap();
    assert_eq!(details(&detail, &file), file.events[..3]);
    assert_eq!(
        detail.framing_problem().unwrap().offset(),
        Some(file.places()[3])
    );
}

#[test]
fn a_wrong_count_is_a_damaged_footer() {
    for version in [1, 2] {
        for count in [0, 5, 7, 1_000_000_000, u64::MAX] {
            let mut file = DetailFile::finalized(version, 6);
            file.footer_count = count;
            let detail = open(&file);
            assert_eq!(details(&detail, &file), file.events);
            assert_eq!(
                damage(&detail),
                [("footer.event_count".to_owned(), file.places()[6] + 8)]
            );
        }
    }
}

#[test]
fn a_wrong_section_length_is_a_damaged_footer() {
    for version in [1, 2] {
        for length in [0, 1, u64::MAX, u64::MAX - 63] {
            for placeholder in [false, true] {
                let mut file = DetailFile::finalized(version, 6);
                file.footer_bytes = length;
                if placeholder {
                    file = file.placeholder();
                }
                let detail = open(&file);
                assert_eq!(details(&detail, &file), file.events);
                let place = file.places()[6] + 16;
                assert_eq!(damage(&detail), [("footer.bytes_length".to_owned(), place)]);
            }
        }
    }
}

#[test]
fn a_verified_footer_wins_over_the_header() {
    let mut file = DetailFile::finalized(1, 6);
    file.header_count = 5;
    file.header_bytes = u64::MAX;
    let detail = open(&file);
    assert_eq!(details(&detail, &file), file.events);
    assert!(matches!(detail.completeness(), Completeness::Finalized));
    assert_eq!(detail.disagreements().len(), 2);
}

#[test]
fn a_footer_under_a_placeholder_header_is_not_an_event() {
    for version in [1, 2] {
        let file = DetailFile::finalized(version, 6).placeholder();
        let detail = open(&file);
        assert_eq!(details(&detail, &file), file.events);
        assert!(matches!(
            detail.completeness(),
            Completeness::HeaderNotUpdated
        ));
    }
}

#[test]
fn a_footer_with_a_damaged_magic_is_not_an_event() {
    for version in [1, 2] {
        for file in [
            DetailFile::finalized(version, 6),
            DetailFile::finalized(version, 6).placeholder(),
        ] {
            let bytes = patched(&file.bytes(), place(&file, 6), &[24, 0, 0, 0]);
            let detail = ways::detail(bytes).unwrap();
            assert_eq!(details(&detail, &file), file.events);
            assert_eq!(
                damage(&detail),
                [("footer.magic".to_owned(), file.places()[6])]
            );
        }
    }
}

#[test]
fn bytes_at_the_footer_offset_of_a_rewritten_header_are_never_an_event() {
    for version in [1, 2] {
        let file = DetailFile::finalized(version, 6);
        let event = DetailRecord {
            event_type: 3,
            index_seq: 9,
            timestamp: 9,
            payload: vec![1; 40],
        };
        let event = DetailFile::of(version, vec![event]).section();
        assert_eq!(event.len(), 64);
        let bytes = [file.without_footer(), event].concat();
        let detail = ways::detail(bytes).unwrap();
        assert_eq!(details(&detail, &file), file.events);
        assert_eq!(damage(&detail).len(), 2);
    }
}

#[test]
fn the_footer_that_never_reached_the_disk_is_a_zero_tail() {
    let file = DetailFile::finalized(1, 6);
    let detail = ways::detail(padded(&file.without_footer(), 64)).unwrap();
    assert_eq!(details(&detail, &file), file.events);
    assert_eq!(tail(&detail), (0, 64, None));
    let header = DetailFile::finalized(1, 0).header();
    let detail = ways::detail(padded(&header, 64)).unwrap();
    assert_eq!(tail(&detail), (0, 64, None));
}

#[test]
fn bytes_of_a_torn_event_are_reported_including_zeros() {
    let file = DetailFile::finalized(1, 6).placeholder();
    let whole = DetailFile::of(1, vec![DetailRecord::call(1, 1, 0)]).section();
    for size in 1..whole.len() {
        let bytes = [&file.without_footer(), &whole[..size]].concat();
        let detail = ways::detail(bytes).unwrap();
        assert_eq!(tail(&detail), (size as u64, 0, None));
    }
    for zeros in 1..24 {
        let detail = ways::detail(padded(&file.without_footer(), zeros)).unwrap();
        assert_eq!(tail(&detail), (zeros as u64, 0, None));
    }
}

#[test]
fn a_finalized_file_truncated_before_its_footer_has_no_torn_footer() {
    let file = DetailFile::finalized(1, 6);
    let detail = ways::detail(file.without_footer()).unwrap();
    assert_eq!(tail(&detail), (0, 0, None));
    let detail = ways::detail(&file.bytes()[..place(&file, 6) + 3]).unwrap();
    assert_eq!(
        tail(&detail),
        (
            0,
            0,
            Some(PartialFooter {
                offset: file.places()[6],
                size: 3
            })
        )
    );
}

#[test]
fn a_footer_followed_by_other_bytes_is_found() {
    for version in [1, 2] {
        for garbage in [1, 24, 64, 1000] {
            // According to this file's header, the footer is at the end of the file.
            let mut misplaced = DetailFile::finalized(version, 6);
            misplaced.header_bytes += garbage as u64;
            for file in [
                DetailFile::finalized(version, 6),
                DetailFile::finalized(version, 6).placeholder(),
                misplaced,
            ] {
                let bytes = [file.bytes(), vec![0xee; garbage]].concat();
                let detail = ways::detail(bytes).unwrap();
                assert_eq!(details(&detail, &file), file.events);
                assert!(detail.completeness().has_verified_footer());
                assert_eq!(detail.bytes_after_footer(), garbage as u64);
            }
        }
    }
}

#[test]
fn zeros_at_the_end_are_not_events() {
    for version in [1, 2] {
        let file = DetailFile::finalized(version, 6).placeholder();
        for zeros in [24, 64, 65536] {
            let bytes = padded(&file.without_footer(), zeros);
            let detail = ways::detail(bytes).unwrap();
            assert_eq!(details(&detail, &file), file.events);
            assert!(detail.framing_problem().is_none());
            assert_eq!(tail(&detail), (0, zeros as u64, None));
        }
    }
}

#[test]
fn a_torn_footer_is_reported() {
    let file = DetailFile::finalized(1, 6).placeholder();
    let footer = place(&file, 6);
    for size in 4..64 {
        let detail = ways::detail(&file.bytes()[..footer + size]).unwrap();
        let expected = PartialFooter {
            offset: footer as u64,
            size: size as u64,
        };
        assert_eq!(tail(&detail), (0, 0, Some(expected)));
    }
}

/// Creates a file with five events, and two more events after the offset where, according to the
/// header, the events end. There is no footer at that offset.
fn stated(header_count: u64) -> (DetailFile, DetailReader) {
    let mut file = DetailFile::finalized(1, 5);
    file.header_count = header_count;
    let behind = DetailFile::finalized(1, 2).section();
    let bytes = [file.without_footer(), behind].concat();
    let detail = ways::detail(bytes).unwrap();
    (file, detail)
}

#[test]
fn a_header_whose_length_and_count_are_confirmed_ends_the_events() {
    let (file, detail) = stated(5);
    assert_eq!(details(&detail, &file), file.events);
    let end = file.places()[5];
    assert_eq!(damage(&detail)[0], ("footer.magic".to_owned(), end));
    assert_eq!((detail.events_end(), detail.missing_events()), (end, 0));
    // If the header's count is wrong, its length proves nothing.
    let (_, detail) = stated(4);
    assert_eq!(detail.event_count(), 7);
    assert_eq!(tail(&detail), (0, 0, None));
}

#[test]
fn a_damaged_footer_under_a_placeholder_is_recognized_by_its_magic() {
    let file = DetailFile::finalized(2, 5).placeholder();
    for (offset, field) in [(8, "footer.event_count"), (16, "footer.bytes_length")] {
        let mut footer = file.footer();
        footer[offset] ^= 1;
        let bytes = [file.without_footer(), footer, vec![1; 50]].concat();
        let detail = ways::detail(bytes).unwrap();
        assert_eq!(details(&detail, &file), file.events);
        let place = file.places()[5] + offset as u64;
        assert_eq!(damage(&detail), [(field.to_owned(), place)]);
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
fn a_header_with_any_number_is_not_a_placeholder() {
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
fn a_header_that_counts_events_without_a_length_ends_none_of_them() {
    let mut file = DetailFile::of(1, vec![DetailRecord::call(0, 1, 0)]);
    file.events[0].payload.truncate(40);
    (file.header_count, file.header_bytes) = (1, 0);
    let bytes = file.without_footer();
    // The only event has the size of a footer and comes directly after the header.
    assert_eq!(bytes.len(), 128);
    let detail = ways::detail(bytes).unwrap();
    assert_eq!(details(&detail, &file), file.events);

    // Without a count, the header's length proves nothing either.
    let mut file = DetailFile::finalized(1, 5);
    file.header_count = 0;
    let behind = DetailFile::of(1, vec![DetailRecord::call(15, 1, 0)]).section();
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
