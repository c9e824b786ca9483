//! Reads valid files with arbitrary patches. The fuzz targets read arbitrary bytes.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::ways;
use atf_samples::files::{DetailFile, IndexFile};

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
        if let Ok(detail) = ways::detail(patch(file.bytes(), patches, size)) {
            crate::details(&detail);
        }
    }
}
