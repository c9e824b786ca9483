//! Tests the possible contents of a header, a footer and a checksum in `index.atf`.

use atf::index::{Hole, IndexReader};
use atf::{Checksum, Completeness, CountSource, Error, ErrorKind, Wire};

use crate::ways;
use crate::{events, expected};
use atf_samples::files::{EventRecord, IndexFile, crc32_ieee, patched};

fn open(file: &IndexFile) -> IndexReader {
    ways::index(file.bytes()).unwrap()
}

fn rejected(bytes: Vec<u8>) -> (ErrorKind, String, u64) {
    let error: Error = ways::index(bytes).unwrap_err();
    (
        error.kind().clone(),
        error.field().unwrap().to_owned(),
        error.offset().unwrap(),
    )
}

fn problems(index: &IndexReader) -> Vec<(String, u64)> {
    let Completeness::DamagedFooter { problems, .. } = index.completeness() else {
        panic!("{:?}", index.completeness())
    };
    problems
        .iter()
        .map(|p| (p.field().unwrap().to_owned(), p.offset().unwrap()))
        .collect()
}

#[test]
fn a_finalized_file_gives_all_events() {
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
fn an_empty_file_is_finalized_and_has_no_times() {
    for version in [1, 2] {
        for file in [
            IndexFile::finalized(version, 0),
            IndexFile::finalized(version, 0).placeholder(),
        ] {
            let index = open(&file);
            assert_eq!(events(&index), []);
            assert!(matches!(index.completeness(), Completeness::Finalized));
            assert_eq!(index.time_range().unwrap(), None);
        }
    }
}

#[test]
fn an_invalid_index_header_is_rejected_at_its_field() {
    let bytes = IndexFile::finalized(1, 3).bytes();
    let (found, expected) = (*b"ATD2", *b"ATI2");
    let magic = ErrorKind::BadMagic { found, expected };
    assert_eq!(
        rejected(patched(&bytes, 0, b"ATD2")),
        (magic, "header.magic".into(), 0)
    );
    let endian = ErrorKind::BadEndian {
        found: 2,
        expected: 1,
    };
    assert_eq!(
        rejected(patched(&bytes, 4, &[2])),
        (endian, "header.endian".into(), 4)
    );
    for found in [0, 3, 255] {
        let version = ErrorKind::UnknownVersion { found };
        assert_eq!(
            rejected(patched(&bytes, 5, &[found])),
            (version, "header.version".into(), 5)
        );
    }
    let size = ErrorKind::BadEventSize {
        found: 33,
        expected: 32,
    };
    assert_eq!(
        rejected(patched(&bytes, 24, &[33])),
        (size.clone(), "header.event_size".into(), 24)
    );
    let bytes = IndexFile::finalized(2, 3).bytes();
    assert_eq!(
        rejected(patched(&bytes, 20, &[33])),
        (size, "header.event_size".into(), 20)
    );
    assert_eq!(
        rejected(bytes[..63].to_vec()),
        (
            ErrorKind::TooShort {
                found: 63,
                needed: 64
            },
            "header".into(),
            63
        )
    );
}

#[test]
fn a_header_with_the_layout_of_the_other_version_is_rejected() {
    // With 32 events, a header of version 2 looks like a placeholder of version 1.
    for (version, layout, wires) in [(1, 2, (Wire::V1, Wire::V2)), (2, 1, (Wire::V2, Wire::V1))] {
        let bytes = patched(&IndexFile::finalized(layout, 32).bytes(), 5, &[version]);
        let kind = ErrorKind::WrongLayoutForVersion {
            version: wires.0,
            layout: wires.1,
        };
        assert_eq!(rejected(bytes), (kind, "header.version".into(), 5));
    }
}

#[test]
fn an_impossible_events_offset_is_rejected() {
    for version in [1, 2] {
        let mut file = IndexFile::finalized(version, 3);
        let size = file.bytes().len() as u64;
        for found in [0, 63, size + 1, u64::MAX - 63, u64::MAX] {
            file.events_offset = found;
            let kind = ErrorKind::BadEventsOffset {
                found,
                min: 64,
                max: size,
            };
            assert_eq!(
                rejected(file.bytes()),
                (kind, "header.events_offset".into(), 32)
            );
        }
        for found in [65, 96, size] {
            file.events_offset = found;
            let kind = ErrorKind::UnprovenEventsOffset { found };
            assert_eq!(
                rejected(file.bytes()),
                (kind, "header.events_offset".into(), 32)
            );
        }
    }
}

#[test]
fn a_verified_footer_proves_events_that_begin_later() {
    for gap in [1, 32, 100] {
        let mut file = IndexFile::finalized(1, 4);
        file.events_offset += gap;
        file.footer_offset += gap;
        let padding = vec![0xee; usize::try_from(gap).unwrap()];
        let bytes = [file.header(), padding, file.section(), file.footer()].concat();
        let index = ways::index(bytes).unwrap();
        assert_eq!(events(&index), expected(&file));
        assert_eq!(index.checksum().unwrap(), Checksum::Good);
    }
}

#[test]
fn a_footer_under_a_placeholder_header_is_not_an_event() {
    for version in [1, 2] {
        for footer_offset in [0, 64] {
            let mut file = IndexFile::finalized(version, 10).placeholder();
            file.footer_offset = footer_offset;
            let index = open(&file);
            assert_eq!(events(&index), expected(&file));
            assert!(matches!(
                index.completeness(),
                Completeness::HeaderNotUpdated
            ));
            assert!(index.disagreements().is_empty());
        }
    }
}

#[test]
fn a_verified_footer_wins_over_the_header() {
    let mut file = IndexFile::finalized(1, 10);
    file.header_count = 11;
    file.footer_offset = u64::MAX - 63;
    file.header_times.1 += 1;
    let index = open(&file);
    assert_eq!(events(&index), expected(&file));
    assert!(matches!(index.completeness(), Completeness::Finalized));
    let fields: Vec<_> = index
        .disagreements()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        fields,
        [
            "header.event_count: 11, the footer has 10 (at 0x1c)",
            "header.footer_offset: 18446744073709551552, the file has 384 (at 0x28)",
            "header.time_end_ns: 1234567890084649, the footer has 1234567890084648 (at 0x38)",
        ]
    );
}

#[test]
fn a_truncated_footer_at_the_header_s_offset_is_not_an_event_whatever_it_contains() {
    for version in [1, 2] {
        let mut file = IndexFile::finalized(version, 10);
        let header = file.header();
        (file.footer_count, file.footer_times) = (11, (5, 6));
        for size in 1..64 {
            let bytes = [&header[..], &file.section(), &file.footer()[..size]].concat();
            let index = IndexReader::from_bytes(bytes).unwrap();
            assert_eq!(index.event_count(), 10, "{size} bytes");
        }
    }
}

#[test]
fn a_footer_with_wrong_numbers_is_damaged_and_not_an_event() {
    for version in [1, 2] {
        for count in [0, 9, 11, 1_000_000_000, u64::MAX / 32 + 1, u64::MAX] {
            for placeholder in [false, true] {
                let mut file = IndexFile::finalized(version, 10);
                file.footer_count = count;
                if placeholder {
                    file = file.placeholder();
                }
                let index = open(&file);
                assert_eq!(events(&index), expected(&file));
                assert_eq!(
                    problems(&index),
                    [("footer.event_count".to_owned(), 384 + 8)]
                );
                assert_eq!(index.count_source(), CountSource::FooterPosition);
                assert_eq!(index.checksum().unwrap(), Checksum::NotChecked);
                assert!(index.footer().is_none());
            }
        }
        let mut file = IndexFile::finalized(version, 10);
        file.bytes_written = u64::MAX;
        assert_eq!(
            problems(&open(&file)),
            [("footer.bytes_written".to_owned(), 384 + 32)]
        );
    }
}

#[test]
fn the_error_of_a_damaged_footer_has_count_bytes_and_offset() {
    let mut file = IndexFile::finalized(1, 10);
    file.footer_count = 1_000_000_000;
    let index = open(&file);
    let Completeness::DamagedFooter { problems, .. } = index.completeness() else {
        panic!()
    };
    assert_eq!(
        problems[0].to_string(),
        "footer.event_count: 1000000000 events need 32000000000 bytes, \
         the events section has 320 (at 0x188)"
    );
}

#[test]
fn a_footer_that_counts_more_events_than_a_full_disk_held_is_damaged() {
    let mut file = IndexFile::finalized(1, 10);
    let held = file.events.split_off(7);
    assert_eq!(held.len(), 3);
    let index = open(&file);
    assert_eq!(events(&index), expected(&file));
    let fields = ["footer.event_count", "footer.bytes_written"].map(str::to_owned);
    let names: Vec<String> = problems(&index)
        .into_iter()
        .map(|(field, _)| field)
        .collect();
    assert_eq!(names, fields);
}

#[test]
fn bytes_between_the_last_event_and_a_damaged_footer_are_reported() {
    let file = IndexFile::finalized(1, 10).placeholder();
    let bytes = [file.without_footer(), vec![0xee; 5], file.footer()].concat();
    let index = ways::index(bytes).unwrap();
    assert_eq!(events(&index), expected(&file));
    let Completeness::DamagedFooter {
        offset: 389,
        trailing_bytes: 5,
        ..
    } = index.completeness()
    else {
        panic!("{:?}", index.completeness())
    };
}

#[test]
fn a_footer_without_events_may_have_a_placeholder_header() {
    let empty = IndexFile::finalized(1, 0).placeholder();
    let no_place = IndexFile {
        footer_offset: 0,
        ..empty.clone()
    };
    let start = IndexFile {
        footer_times: (1, 0),
        ..empty.clone()
    };
    let end = IndexFile {
        footer_times: (0, 1),
        ..empty
    };
    for file in [no_place, start, end] {
        assert!(matches!(
            open(&file).completeness(),
            Completeness::HeaderNotUpdated
        ));
    }
}

#[test]
fn a_footer_with_a_damaged_magic_is_not_an_event() {
    for version in [1, 2] {
        for file in [
            IndexFile::finalized(version, 10),
            IndexFile::finalized(version, 10).placeholder(),
        ] {
            let index = ways::index(patched(&file.bytes(), 384, b"2iTA")).unwrap();
            assert_eq!(events(&index), expected(&file));
            assert_eq!(problems(&index), [("footer.magic".to_owned(), 384)]);
        }
    }
}

#[test]
fn a_rewritten_header_that_agrees_with_itself_bounds_the_events() {
    let file = IndexFile::finalized(1, 10);
    let index = ways::index(patched(&file.bytes(), 384, &[0xee; 64])).unwrap();
    assert_eq!(events(&index), expected(&file));
    assert_eq!(problems(&index).len(), 3);
}

#[test]
fn a_footer_followed_by_other_bytes_is_found() {
    for version in [1, 2] {
        for garbage in [1, 32, 63, 64, 1000] {
            for file in [
                IndexFile::finalized(version, 10),
                IndexFile::finalized(version, 10).placeholder(),
            ] {
                let bytes = [file.bytes(), vec![0xee; garbage]].concat();
                let index = ways::index(bytes).unwrap();
                assert_eq!(events(&index), expected(&file));
                assert_eq!(index.bytes_after_footer(), garbage as u64);
                assert!(index.completeness().has_verified_footer());
            }
        }
    }
}

#[test]
fn a_damaged_footer_at_its_offset_in_the_header_is_not_an_event() {
    let mut file = IndexFile::finalized(1, 10);
    file.header_count = 12;
    file.footer_count = 11;
    let bytes = [file.bytes(), vec![0xee; 1000]].concat();
    let index = ways::index(bytes).unwrap();
    assert_eq!(events(&index), expected(&file));
    assert_eq!(problems(&index), [("footer.event_count".to_owned(), 392)]);
}

#[test]
fn checksums_are_verified_if_there_are_any() {
    let mut file = IndexFile::finalized(1, 10);
    let computed = file.checksum;
    file.checksum = 0;
    assert_eq!(open(&file).checksum().unwrap(), Checksum::Absent);
    file.checksum = 1;
    assert_eq!(
        open(&file).checksum().unwrap(),
        Checksum::Bad {
            stored: 1,
            computed
        }
    );
    let stored = crc32_ieee(&file.section());
    file.checksum = stored;
    let index = open(&file);
    assert_eq!(
        index.checksum().unwrap(),
        Checksum::Ieee { stored, computed }
    );
    assert_eq!(events(&index), expected(&file));
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
        assert_eq!(
            holes,
            [
                Hole { seq: 5, count: 3 },
                Hole {
                    seq: 100,
                    count: 300
                }
            ]
        );
        assert_eq!(index.event_count(), 600);
        assert_eq!(index.get(8).unwrap().unwrap(), expected(&file)[8]);
        assert_eq!(index.get(400).unwrap().unwrap(), expected(&file)[400]);
    }
}

#[test]
fn unknown_kinds_flags_and_platforms_are_passed_through() {
    let event = EventRecord {
        timestamp_ns: 1,
        function_id: 0,
        kind: 77,
        depth: 0,
        detail_seq: None,
    };
    for version in [1, 2] {
        let mut file = IndexFile::of(version, vec![event.clone()]);
        file.flags = 0xffff_fffe;
        file.arch = 200;
        let index = open(&file);
        assert_eq!(events(&index), expected(&file));
        assert_eq!(index.header().arch.name(), None);
        assert!(!index.header().has_detail_file());
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
fn no_event_is_missing_if_a_verified_footer_counts_them() {
    let mut file = IndexFile::finalized(1, 5);
    file.header_count = 9;
    assert_eq!(open(&file).missing_events(), 0);
    let cut = ways::index(file.without_footer()).unwrap();
    assert_eq!(cut.missing_events(), 4);
}
