//! Tests lookups, which share a window: they read few bytes, and their results do not depend on
//! earlier lookups.

use std::io;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use atf::ReadAt;
use atf::detail::DetailReader;
use atf::index::IndexReader;
use proptest::prelude::*;

use crate::{Source, counted, events};
use atf_samples::files::{DetailFile, IndexFile};

const EVENTS: u64 = 1_000;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn lookups_in_any_order_return_the_right_events(
        version in 1..3_u8,
        jumps in prop::collection::vec((0..EVENTS, 0..40_u64, any::<bool>()), 1..20),
    ) {
        let index = IndexFile::finalized(version, EVENTS).bytes();
        let detail = DetailFile::finalized(version, EVENTS).bytes();
        let whole_index = IndexReader::from_bytes(index.clone()).unwrap();
        let whole_detail = DetailReader::from_bytes(detail.clone()).unwrap();
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
    let (source, counts) = counted(bytes);
    let index = IndexReader::from_source(source).unwrap();
    for backward in [false, true] {
        let before = counts.bytes.load(Ordering::Relaxed);
        for step in 0..EVENTS {
            let seq = if backward { EVENTS - 1 - step } else { step };
            index.get(seq).unwrap().unwrap();
        }
        let read = counts.bytes.load(Ordering::Relaxed) - before;
        assert!(read < size + (16 << 10), "{read} bytes of {size}");
    }
}

#[test]
fn lookups_in_order_share_reads_of_64_kib() {
    let (source, counts) = counted(IndexFile::finalized(1, 10 * EVENTS).bytes());
    let index = IndexReader::from_source(source).unwrap();
    let before = counts.reads.load(Ordering::Relaxed);
    for seq in 0..10 * EVENTS {
        index.get(seq).unwrap().unwrap();
    }
    // The first two reads are of 32 and 512 bytes, and each later read is twice as large as the one
    // before. So nine reads cover 128 KiB of the 320 KiB.
    let reads = counts.reads.load(Ordering::Relaxed) - before;
    assert!(reads <= 13, "{reads} reads");
}

#[test]
fn a_lookup_far_from_the_last_one_reads_one_event() {
    let (source, counts) = counted(IndexFile::finalized(1, EVENTS).bytes());
    let index = IndexReader::from_source(source).unwrap();
    for seq in [0, EVENTS / 2, EVENTS - 1, 1] {
        let before = counts.bytes.load(Ordering::Relaxed);
        index.get(seq).unwrap().unwrap();
        let read = counts.bytes.load(Ordering::Relaxed) - before;
        assert_eq!(read, 32, "event {seq}");
    }
}

/// Creates a source with a sector that turns bad. After that, reads that touch the sector fail, or
/// return the bytes before it.
fn turning_bad(
    bytes: Vec<u8>,
    sector: Range<u64>,
    returns_part: bool,
    is_bad: &Arc<AtomicBool>,
) -> Source {
    let is_bad = Arc::clone(is_bad);
    Source::new(bytes, move |bytes, offset, buffer| {
        let end = offset + buffer.len() as u64;
        let is_good = !is_bad.load(Ordering::Relaxed);
        if is_good || offset >= sector.end || end <= sector.start {
            return bytes.read_at(offset, buffer);
        }
        match usize::try_from(sector.start.saturating_sub(offset)) {
            Ok(before) if before > 0 && returns_part => {
                bytes.read_at(offset, &mut buffer[..before])
            }
            _ => Err(io::Error::other("a bad sector")),
        }
    })
}

/// Returns readers of an index in which events 5000 to 5015 are in a bad sector.
fn beside_a_bad_sector() -> impl Iterator<Item = IndexReader> {
    let bytes = IndexFile::finalized(1, 10 * EVENTS).bytes();
    [false, true].into_iter().map(move |returns_part| {
        let sector = 64 + 5000 * 32..64 + 5016 * 32;
        let source = turning_bad(bytes.clone(), sector, returns_part, &Arc::new(true.into()));
        IndexReader::from_source(source).unwrap()
    })
}

#[test]
fn lookups_return_every_event_next_to_a_bad_sector() {
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
fn details_next_to_a_bad_sector_are_found() {
    let file = DetailFile::finalized(1, EVENTS);
    let bad = file.places()[700];
    let whole = DetailReader::from_bytes(file.bytes()).unwrap();
    for returns_part in [false, true] {
        let is_bad = Arc::default();
        let source = turning_bad(file.bytes(), bad..bad + 16, returns_part, &is_bad);
        let details = DetailReader::from_source(source).unwrap();
        is_bad.store(true, Ordering::Relaxed);
        let found = details.events().map_while(Result::ok);
        assert!(found.eq(whole.events().map_while(Result::ok).take(700)));
        let mut cursor = details.cursor();
        for seq in 0..EVENTS {
            assert_eq!(cursor.get(seq).is_err(), seq == 700, "detail {seq}");
        }
    }
}

#[test]
fn concurrent_lookups_find_the_same_events() {
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

#[test]
fn lookups_after_the_source_panics_return_the_correct_events() {
    let bytes = IndexFile::finalized(1, EVENTS).bytes();
    let expected = events(&IndexReader::from_bytes(bytes.clone()).unwrap());
    let panics_next = Arc::new(AtomicBool::new(false));
    let panics = Arc::clone(&panics_next);
    let source = Source::new(bytes, move |bytes, offset, buffer| {
        assert!(!panics.swap(false, Ordering::Relaxed), "expected");
        bytes.read_at(offset, buffer)
    });
    let index = IndexReader::from_source(source).unwrap();
    index.get(500).unwrap();
    panics_next.store(true, Ordering::Relaxed);
    catch_unwind(AssertUnwindSafe(|| index.get(501))).unwrap_err();
    for (seq, event) in (501..).zip(&expected[501..]) {
        assert_eq!(index.get(seq).unwrap(), Some(*event));
    }
}
