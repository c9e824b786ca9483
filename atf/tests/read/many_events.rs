//! Reads files that span several windows, blocks and parts.

use std::fs::File;
use std::num::NonZero;
#[cfg(unix)]
use std::os::unix::fs::FileExt;

use atf::index::IndexReader;
use atf::{Checksum, ErrorKind, EventKind};

use crate::{expected, ways};
use atf_samples::files::{EventRecord, IndexFile};

/// Creates a file in which time goes backwards at the positions in `back`: at the boundaries of
/// blocks and parts, and inside them.
fn file(version: u8, count: u64, back: &[u64]) -> IndexFile {
    let mut late = 0;
    let event = |seq: u64| {
        late += u64::from(back.contains(&seq)) * 15;
        let kind = [1, 2, 3, 1, 1, 77][usize::try_from(seq % 6).unwrap()];
        EventRecord::new(1_000_000 + 10 * seq - late, seq, kind, None)
    };
    IndexFile::new(version, (0..count).map(event).collect())
}

#[test]
fn all_ways_of_reading_agree_across_windows_blocks_and_parts() {
    for (version, count) in [(1, 2048), (2, 2049), (1, 20_000)] {
        let file = file(version, count, &[]);
        let index = ways::index(file.bytes()).unwrap();
        assert!(crate::events(&index) == expected(&file));
        assert_eq!(index.checksum().unwrap(), Checksum::Good);
    }
}

#[test]
fn a_scan_in_parts_finds_the_same_as_a_single_scan() {
    // There are three parts of 40,000 events each.
    for back in [
        &[][..],
        &[40_000],
        &[1],
        &[39_999, 80_000, 119_999],
        &[2048, 2049],
    ] {
        let bytes = file(2, 120_000, back).bytes();
        let index = IndexReader::from_bytes(bytes.clone()).unwrap();
        let scan = index.scan().unwrap();
        let disorder = scan.disorder.map(|it| (it.first_seq, it.count));
        let expected = back.first().map(|first| (*first, back.len() as u64));
        assert_eq!(disorder, expected);
        assert_eq!(scan.kinds.get(EventKind::CALL), 60_000);
        assert_eq!(scan.kinds.unknown, 20_000);
        assert_eq!(scan.checksum, Checksum::Good);
        for threads in [2, 3, 64] {
            let index = IndexReader::from_bytes(bytes.clone()).unwrap();
            let threads = NonZero::new(threads).unwrap();
            assert_eq!(index.scan_parallel(threads).unwrap(), scan);
        }
    }
}

#[test]
fn a_file_that_shrinks_is_an_error_from_either_end_and_in_parts() {
    let (_folder, path) = ways::file(&file(1, 120_000, &[]).bytes());
    let index = IndexReader::open(&path).unwrap();
    let handle = File::options().write(true).open(&path).unwrap();
    handle.set_len(64 + 32 * 100_000).unwrap();
    let is_cut = |error: &atf::Error| matches!(error.kind(), ErrorKind::UnexpectedEnd { .. });
    assert!(is_cut(&index.scan().unwrap_err()));
    let threads = NonZero::new(3).unwrap();
    assert!(is_cut(&index.scan_parallel(threads).unwrap_err()));
    let mut back = index.events_in(..).rev();
    assert!(is_cut(&back.next().unwrap().unwrap_err()));
    assert!(back.next().is_none());
    let mut blocks = index.blocks(90_000..);
    let mut read = 0;
    let error = loop {
        match blocks.next_block() {
            Ok(block) => read += block.unwrap().len(),
            Err(error) => break error,
        }
    };
    assert!(is_cut(&error) && read <= 10_000, "{read}");
    assert!(blocks.next_block().unwrap().is_none());
}

#[cfg(unix)]
#[test]
fn the_result_of_the_first_scan_is_kept() {
    let (_folder, path) = ways::file(&file(1, 100, &[]).bytes());
    let index = IndexReader::open(&path).unwrap();
    let scan = index.scan().unwrap();
    let handle = File::options().write(true).open(&path).unwrap();
    handle.write_all_at(&[0xff; 8], 64).unwrap();
    assert_eq!(index.scan().unwrap(), scan);
    assert_eq!(index.checksum().unwrap(), Checksum::Good);
    let again = IndexReader::open(&path).unwrap();
    assert_ne!(again.checksum().unwrap(), Checksum::Good);
}
