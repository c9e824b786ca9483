//! Tests lookups, which share a window: they read few bytes, and their results do not depend on
//! earlier lookups.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use atf::detail::DetailReader;
use atf::index::IndexReader;
use proptest::prelude::*;

use crate::counted::Counted;
use crate::events;
use atf_samples::files::{DetailFile, IndexFile};

const EVENTS: u64 = 1_000;

/// Creates a source with positioned reads, and a counter of the bytes read.
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

/// A source that counts its reads.
struct Reads(Vec<u8>, Arc<AtomicU64>);

impl atf::ReadAt for Reads {
    fn size(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.1.fetch_add(1, Ordering::Relaxed);
        (&self.0[..]).read_at(offset, buffer)
    }
}

#[test]
fn lookups_in_order_share_reads_of_64_kib() {
    let count = Arc::new(AtomicU64::new(0));
    let bytes = IndexFile::finalized(1, 10 * EVENTS).bytes();
    let index = IndexReader::from_source(Reads(bytes, Arc::clone(&count))).unwrap();
    let before = count.load(Ordering::Relaxed);
    for seq in 0..10 * EVENTS {
        index.get(seq).unwrap().unwrap();
    }
    // The first two reads are of 32 and 512 bytes, and each further read is twice as large as the
    // previous one. So nine reads cover 128 KiB of the 320 KiB.
    let reads = count.load(Ordering::Relaxed) - before;
    assert!(reads <= 13, "{reads} reads");
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

/// A source with a bad sector. Reads that touch the sector fail, or return the bytes before it.
struct BadSector {
    bytes: Vec<u8>,
    bad: Range<u64>,
    returns_part: bool,
    has_turned_bad: Arc<AtomicBool>,
}

impl atf::ReadAt for BadSector {
    fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        let end = offset + buffer.len() as u64;
        let is_bad = self.has_turned_bad.load(Ordering::Relaxed);
        if !is_bad || offset >= self.bad.end || end <= self.bad.start {
            return (&self.bytes[..]).read_at(offset, buffer);
        }
        match usize::try_from(self.bad.start.saturating_sub(offset)) {
            Ok(before) if before > 0 && self.returns_part => {
                (&self.bytes[..]).read_at(offset, &mut buffer[..before])
            }
            _ => Err(std::io::Error::other("a bad sector")),
        }
    }
}

/// Returns readers of an index in which events 5000 to 5015 are in a bad sector.
fn beside_a_bad_sector() -> impl Iterator<Item = IndexReader> {
    let bytes = IndexFile::finalized(1, 10 * EVENTS).bytes();
    [false, true].into_iter().map(move |returns_part| {
        let source = BadSector {
            bytes: bytes.clone(),
            bad: 64 + 5000 * 32..64 + 5016 * 32,
            returns_part,
            has_turned_bad: Arc::new(true.into()),
        };
        IndexReader::from_source(source).unwrap()
    })
}

#[test]
fn lookups_reach_every_event_beside_a_bad_sector() {
    for index in beside_a_bad_sector() {
        let mut cursor = index.cursor();
        for seq in (0..10 * EVENTS).chain((0..10 * EVENTS).rev()) {
            let is_bad = (5000..5016).contains(&seq);
            assert_eq!(index.get(seq).is_err(), is_bad, "event {seq}");
            assert_eq!(cursor.get(seq).is_err(), is_bad, "event {seq}");
        }
    }
}

#[test]
fn iterators_return_every_event_up_to_a_bad_sector() {
    let bad = Some(64 + 5000 * 32);
    for index in beside_a_bad_sector() {
        for mut events in [index.events(), index.events_in(..)] {
            let good = events.by_ref().take_while(Result::is_ok);
            assert_eq!(good.count(), 5000);
            assert!(events.next().is_none());
        }
        let mut backward = index.events_in(..).rev();
        assert_eq!(backward.by_ref().take_while(Result::is_ok).count(), 4984);
        let mut blocks = index.blocks(..);
        let mut count = 0;
        let error = loop {
            match blocks.next_block() {
                Ok(block) => count += block.unwrap().len(),
                Err(error) => break error,
            }
        };
        assert_eq!((count, error.offset()), (5000, bad));
    }
}

#[test]
fn details_are_found_beside_a_bad_sector() {
    let file = DetailFile::finalized(1, EVENTS);
    let bad = file.places()[700];
    let whole = DetailReader::from_bytes(file.bytes()).unwrap();
    for returns_part in [false, true] {
        let has_turned_bad = Arc::default();
        let source = BadSector {
            bytes: file.bytes(),
            bad: bad..bad + 16,
            returns_part,
            has_turned_bad: Arc::clone(&has_turned_bad),
        };
        let details = DetailReader::from_source(source).unwrap();
        has_turned_bad.store(true, Ordering::Relaxed);
        let found = details.events().map_while(Result::ok);
        assert!(found.eq(whole.events().map_while(Result::ok).take(700)));
        let mut cursor = details.cursor();
        for seq in 0..EVENTS {
            assert_eq!(cursor.get(seq).is_err(), seq == 700, "detail {seq}");
        }
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

/// A source whose next read panics after `panics` is set.
struct Panicking {
    bytes: Vec<u8>,
    panics: Arc<AtomicBool>,
}

impl atf::ReadAt for Panicking {
    fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        assert!(!self.panics.swap(false, Ordering::Relaxed), "expected");
        (&self.bytes[..]).read_at(offset, buffer)
    }
}

#[test]
fn lookups_after_a_panic_of_the_source_return_what_lies_there() {
    let bytes = IndexFile::finalized(1, EVENTS).bytes();
    let expected = events(&IndexReader::from_bytes(bytes.clone()).unwrap());
    let panics = Arc::new(AtomicBool::new(false));
    let source = Panicking {
        bytes,
        panics: Arc::clone(&panics),
    };
    let index = IndexReader::from_source(source).unwrap();
    index.get(500).unwrap();
    panics.store(true, Ordering::Relaxed);
    catch_unwind(AssertUnwindSafe(|| index.get(501))).unwrap_err();
    for (seq, event) in (501..).zip(&expected[501..]) {
        assert_eq!(index.get(seq).unwrap(), Some(*event));
    }
}
