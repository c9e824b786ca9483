//! Reads files with a single flipped bit, for every bit.

use atf::detail::DetailReader;
use atf::index::{IndexEvent, IndexReader};
use atf::{Checksum, Completeness, Wire};

use crate::{details, events, expected};
use atf_samples::files::{DetailFile, IndexFile};

fn flipped(bytes: &[u8], bit: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[bit / 8] ^= 1 << (bit % 8);
    bytes
}

#[test]
fn flipped_bits_of_an_index_file_never_change_an_event_unnoticed() {
    for version in [1, 2] {
        let file = IndexFile::finalized(version, 6);
        let bytes = file.bytes();
        let footer = 64 + 32 * 6;
        for bit in 0..bytes.len() * 8 {
            let Ok(index) = IndexReader::from_bytes(flipped(&bytes, bit)) else {
                assert!(
                    bit / 8 < 64,
                    "byte {} must not prevent reading the file",
                    bit / 8
                );
                continue;
            };
            let read = events(&index);
            match bit / 8 {
                // In version 2, the thread in the header applies to every event.
                12..16 => {
                    let thread_id = match index.wire() {
                        Wire::V1 => file.thread_id,
                        _ => index.header().thread_id,
                    };
                    let same = |event: IndexEvent| event.thread_id(thread_id);
                    assert_eq!(
                        read,
                        expected(&file).into_iter().map(same).collect::<Vec<_>>()
                    );
                }
                byte if (64..footer).contains(&byte) => {
                    let seq = (byte - 64) / 32;
                    assert_eq!(read[..seq], expected(&file)[..seq]);
                    assert_eq!(read[seq + 1..], expected(&file)[seq + 1..]);
                    assert!(matches!(index.checksum().unwrap(), Checksum::Bad { .. }));
                }
                _ => assert_eq!(read, expected(&file), "bit {bit}"),
            }
        }
    }
}

#[test]
fn flipped_bits_of_count_offsets_and_times_in_an_index_header_are_noticed() {
    for (version, count) in [(1, 28), (2, 24)] {
        let bytes = IndexFile::finalized(version, 6).bytes();
        for bit in (count * 8..32 * 8).chain(40 * 8..64 * 8) {
            let index = IndexReader::from_bytes(flipped(&bytes, bit)).unwrap();
            assert_eq!(index.disagreements().len(), 1, "bit {bit}");
        }
    }
}

/// No reader can detect errors in these fields, because their values occur nowhere else in the
/// file.
#[test]
fn only_flipped_bits_of_platform_and_thread_in_an_index_header_go_unnoticed() {
    for version in [1, 2] {
        let bytes = IndexFile::finalized(version, 6).bytes();
        let unseen = (0..64).filter(|byte| {
            (0..8).any(|bit| {
                IndexReader::from_bytes(flipped(&bytes, byte * 8 + bit))
                    .is_ok_and(|index| index.disagreements().is_empty())
            })
        });
        // The fields are arch, os, flags, thread_id, clock_type and reserved, which extends to byte
        // 24 in version 1.
        let expected = (6..20).chain(if version == 1 { 20..24 } else { 20..20 });
        assert_eq!(unseen.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    }
}

#[test]
fn flipped_bits_of_a_detail_file_never_change_an_event_unnoticed() {
    for version in [1, 2] {
        let file = DetailFile::finalized(version, 6);
        let bytes = file.bytes();
        let places = file.places();
        let footer = usize::try_from(*places.last().unwrap()).unwrap();
        for bit in 0..bytes.len() * 8 {
            let Ok(detail) = DetailReader::from_bytes(flipped(&bytes, bit)) else {
                assert!(
                    bit / 8 < 64,
                    "byte {} must not prevent reading the file",
                    bit / 8
                );
                continue;
            };
            let byte = bit / 8;
            if (64..footer).contains(&byte) {
                let before = places[1..]
                    .iter()
                    .filter(|end| **end <= byte as u64)
                    .count();
                let intact: Vec<_> = detail
                    .events_in(..)
                    .take(before)
                    .map(|event| event.unwrap().offset)
                    .collect();
                assert_eq!(intact, places[..before]);
                let seen = matches!(detail.checksum().unwrap(), Checksum::Bad { .. })
                    || matches!(detail.completeness(), Completeness::DamagedFooter { .. });
                assert!(seen, "bit {bit}");
            } else if !(12..16).contains(&byte) && detail.wire().version() == version {
                assert_eq!(details(&detail, &file), file.events, "bit {bit}");
            }
        }
    }
}
