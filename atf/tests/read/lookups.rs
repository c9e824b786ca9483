//! Lookups share a window: they return the same wherever the previous one was, and read little.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use atf::detail::DetailReader;
use atf::index::IndexReader;
use proptest::prelude::*;

use crate::counted::Counted;
use crate::events;
use crate::support::{DetailFile, IndexFile};

const EVENTS: u64 = 1_000;

/// A reader of positioned bytes, and how many it has read.
fn counted(bytes: Vec<u8>) -> (Counted, Arc<AtomicU64>) {
    let count = Arc::new(AtomicU64::new(0));
    (Counted(bytes, Arc::clone(&count)), count)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn lookups_in_any_order_return_what_lies_there(
        version in 1..3_u8,
        jumps in prop::collection::vec((0..EVENTS, 0..40_u64, any::<bool>()), 1..20),
    ) {
        let (index, detail) = (
            IndexFile::finalized(version, EVENTS).bytes(),
            DetailFile::finalized(version, EVENTS).bytes(),
        );
        let (whole_index, whole_detail) = (
            IndexReader::from_bytes(index.clone()).unwrap(),
            DetailReader::from_bytes(detail.clone()).unwrap(),
        );
        let index = IndexReader::from_source(counted(index).0).unwrap();
        let detail = DetailReader::from_source(counted(detail).0).unwrap();
        for (start, count, is_descending) in jumps {
            for step in 0..count {
                let seq = if is_descending { start.saturating_sub(step) } else { start + step };
                prop_assert_eq!(index.get(seq).unwrap(), whole_index.get(seq).unwrap());
                let found = detail.get(seq).unwrap();
                prop_assert_eq!(found, whole_detail.get(seq).unwrap());
                if let Some(event) = found {
                    let payload = detail.payload(&event, 1 << 20).unwrap();
                    prop_assert_eq!(payload, whole_detail.payload(&event, 1 << 20).unwrap());
                }
            }
        }
    }
}

#[test]
fn lookups_in_order_read_each_byte_about_once() {
    let bytes = IndexFile::finalized(1, EVENTS).bytes();
    let size = bytes.len() as u64;
    let (source, count) = counted(bytes);
    let index = IndexReader::from_source(source).unwrap();
    for backward in [false, true] {
        let before = count.load(Ordering::Relaxed);
        for step in 0..EVENTS {
            let seq = if backward { EVENTS - 1 - step } else { step };
            index.get(seq).unwrap().unwrap();
        }
        let read = count.load(Ordering::Relaxed) - before;
        assert!(read < size + (16 << 10), "{read} bytes of {size}");
    }
}

#[test]
fn a_lookup_far_from_the_last_one_reads_one_event() {
    let (source, count) = counted(IndexFile::finalized(1, EVENTS).bytes());
    let index = IndexReader::from_source(source).unwrap();
    for seq in [0, EVENTS / 2, EVENTS - 1, 1] {
        let before = count.load(Ordering::Relaxed);
        index.get(seq).unwrap().unwrap();
        assert_eq!(count.load(Ordering::Relaxed) - before, 32, "event {seq}");
    }
}

/// A source with a bad sector: reads that touch it fail.
struct BadSector(Vec<u8>, std::ops::Range<u64>);

impl atf::ReadAt for BadSector {
    fn size(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        let end = offset + buffer.len() as u64;
        if offset < self.1.end && end > self.1.start {
            return Err(std::io::Error::other("a bad sector"));
        }
        (&self.0[..]).read_at(offset, buffer)
    }
}

#[test]
fn lookups_reach_every_event_beside_a_bad_sector() {
    let bytes = IndexFile::finalized(1, EVENTS).bytes();
    let bad = 64 + 500 * 32..64 + 516 * 32;
    let index = IndexReader::from_source(BadSector(bytes, bad)).unwrap();
    for seq in (0..EVENTS).chain((0..EVENTS).rev()) {
        let is_bad = (500..516).contains(&seq);
        assert_eq!(index.get(seq).is_err(), is_bad, "event {seq}");
    }
}

#[test]
fn threads_that_look_up_at_once_find_the_same() {
    let (source, _) = counted(IndexFile::finalized(2, EVENTS).bytes());
    let index = IndexReader::from_source(source).unwrap();
    let expected = events(&index);
    thread::scope(|scope| {
        for stride in [1, 7, 333, 499] {
            let (index, expected) = (&index, &expected);
            scope.spawn(move || {
                for step in 0..10 * EVENTS {
                    let seq = step * stride % EVENTS;
                    let found = index.get(seq).unwrap();
                    assert_eq!(found.as_ref(), expected.get(seq as usize));
                }
            });
        }
    });
}
