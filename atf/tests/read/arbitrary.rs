//! Reads arbitrary bytes, and valid files with arbitrary patches.

use atf::detail::DetailReader;
use atf::index::IndexReader;
use atf::manifest::Manifest;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::ways;
use atf_samples::files::{DetailFile, IndexFile};

/// Calls every method. The results do not matter.
fn read_index(bytes: &[u8]) {
    let Ok(index) = IndexReader::from_bytes(bytes) else {
        return;
    };
    assert!(index.event_count() <= bytes.len() as u64 / 32);
    assert!(index.events_end() <= bytes.len() as u64);
    assert_eq!(
        index.events_in(..).map(Result::unwrap).count() as u64,
        index.event_count()
    );
    assert!(index.holes().all(|hole| hole.unwrap().count > 0));
    index.checksum().unwrap();
    index.time_range().unwrap();
    assert!(index.disagreements().len() <= 4);
    assert_eq!(index.get(u64::MAX).unwrap(), None);
}

fn read_detail(bytes: &[u8]) {
    let Ok(detail) = DetailReader::from_bytes(bytes) else {
        return;
    };
    assert!(detail.event_count() <= bytes.len() as u64 / 24);
    assert!(detail.events_end() <= bytes.len() as u64);
    let mut offset = detail.header().events_offset;
    for event in detail.events_in(..).map(Result::unwrap) {
        assert_eq!(event.offset, offset);
        offset += u64::from(event.header.total_length);
        let payload = detail.payload(&event, bytes.len()).unwrap();
        assert_eq!(payload.len() as u64, event.payload_size());
        detail.function_payload(&event).unwrap();
    }
    assert_eq!(offset, detail.events_end());
    detail.checksum().unwrap();
    detail.time_range().unwrap();
    assert!(detail.disagreements().len() <= 2);
}

fn read_manifest(bytes: &[u8]) {
    let manifest = Manifest::parse(bytes);
    assert!(manifest.problems.len() as u64 <= manifest.problem_count);
    assert!(
        manifest
            .problems
            .iter()
            .all(|p| p.offset().unwrap() <= bytes.len() as u64)
    );
}

fn patch(mut bytes: Vec<u8>, patches: Vec<(prop::sample::Index, Vec<u8>)>, size: usize) -> Vec<u8> {
    for (place, patch) in patches {
        let start = place.index(bytes.len());
        let size = patch.len().min(bytes.len() - start);
        bytes[start..start + size].copy_from_slice(&patch[..size]);
    }
    bytes.resize(size.min(2 * bytes.len()), 0);
    bytes
}

fn patches() -> impl Strategy<Value = Vec<(prop::sample::Index, Vec<u8>)>> {
    let number = prop_oneof![
        any::<u64>().prop_map(|number| number.to_le_bytes().to_vec()),
        prop_oneof![Just(0), Just(u64::MAX), Just(u64::MAX - 63), 0..700_u64]
            .prop_map(|number| number.to_le_bytes().to_vec()),
        Just(b"2ITA".to_vec()),
        Just(b"2DTA".to_vec()),
        vec(Just(0), 1..200),
        vec(any::<u8>(), 1..9),
    ];
    vec((any::<prop::sample::Index>(), number), 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_a_reader_panic(
        mut bytes in vec(any::<u8>(), 0..600),
        version in 1..3_u8,
        with_header in any::<bool>(),
    ) {
        if with_header && bytes.len() >= 64 {
            bytes[..64].copy_from_slice(&IndexFile::finalized(version, 9).placeholder().header());
        }
        read_index(&bytes);
        if with_header && bytes.len() >= 64 {
            bytes[..64].copy_from_slice(&DetailFile::finalized(version, 9).placeholder().header());
        }
        read_detail(&bytes);
        read_manifest(&bytes);
    }

    #[test]
    fn no_patched_index_file_makes_a_reader_panic(
        version in 1..3_u8,
        count in 0..12_u64,
        placeholder in any::<bool>(),
        patches in patches(),
        size in 0..1000_usize,
    ) {
        let file = IndexFile::finalized(version, count);
        let file = if placeholder { file.placeholder() } else { file };
        read_index(&patch(file.bytes(), patches, size));
    }

    #[test]
    fn no_patched_detail_file_makes_a_reader_panic(
        version in 1..3_u8,
        count in 0..8_u64,
        placeholder in any::<bool>(),
        patches in patches(),
        size in 0..1500_usize,
    ) {
        let file = DetailFile::finalized(version, count);
        let file = if placeholder { file.placeholder() } else { file };
        read_detail(&patch(file.bytes(), patches, size));
    }

    #[test]
    fn no_patched_manifest_makes_the_reader_panic(patches in patches(), size in 0..400_usize) {
        let text = br#"{"threads": [{"id": 0, "has_detail": true}, {"id": 1}], "time_start_ns": 5,
            "symbols": [{"function_id": "0x01", "name": "caf\u00e9"}], "modules": []}"#;
        read_manifest(&patch(text.to_vec(), patches, size));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_way_to_read_a_patched_file_agrees(
        version in 1..3_u8,
        count in 0..12_u64,
        placeholder in any::<bool>(),
        patches in patches(),
        size in 0..1500_usize,
    ) {
        let file = IndexFile::finalized(version, count);
        let file = if placeholder { file.placeholder() } else { file };
        if let Ok(index) = ways::index(patch(file.bytes(), patches.clone(), size)) {
            crate::events(&index);
        }
        let file = DetailFile::finalized(version, count);
        let file = if placeholder { file.placeholder() } else { file };
        let _ = ways::detail(patch(file.bytes(), patches, size));
    }
}
