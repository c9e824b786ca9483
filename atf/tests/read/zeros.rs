//! Reads files truncated after every byte and filled with zeros, as in preallocated space.
//! `atf-safety exhaustive` truncates files without adding zeros, and flips their bits. The number
//! of zeros varies, because readers search for the last other byte in blocks.

use atf::detail::DetailReader;
use atf::index::IndexReader;

use crate::{details, events, expected};
use atf_samples::files::{DetailFile, IndexFile, padded};

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
