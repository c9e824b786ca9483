//! Tests that searching a time range in ordered events finds the same events as examining each
//! event.

use std::io::Cursor;
use std::num::NonZero;
use std::ops::{Bound, RangeBounds};
use std::sync::atomic::Ordering;

use atf::Seekable;
use atf::index::IndexReader;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::counted;
use atf_samples::files::{EventRecord, IndexFile};

fn file(version: u8, times: &[u64]) -> IndexFile {
    let event = |time: &u64| EventRecord::new(*time, 1, 1, None);
    IndexFile::new(version, times.iter().map(event).collect())
}

fn check(index: &IndexReader, times: &[u64], time: (Bound<u64>, Bound<u64>)) {
    let seqs = 0..times.len() as u64;
    let naive: Vec<u64> = seqs
        .filter(|seq| time.contains(&times[usize::try_from(*seq).unwrap()]))
        .collect();
    let found = index.time_query(time).unwrap().map(Result::unwrap);
    let found: Vec<u64> = found
        .map(|(seq, event)| {
            assert_eq!(index.get(seq).unwrap(), Some(event));
            seq
        })
        .collect();
    assert_eq!(found, naive, "{time:?}");
    match index.seq_range(time).unwrap() {
        Some(range) => {
            assert!(times.is_sorted());
            assert_eq!(range.collect::<Vec<_>>(), naive, "{time:?}");
        }
        None => assert!(!times.is_sorted()),
    }
}

/// Checks ranges with included, excluded and missing bounds at these keys.
fn check_all(version: u8, times: &[u64], keys: &[u64]) {
    let bytes = file(version, times).bytes();
    let memory = IndexReader::from_bytes(bytes.clone()).unwrap();
    let seekable = Seekable::new(Cursor::new(bytes)).unwrap();
    let windows = IndexReader::from_source(seekable).unwrap();
    for index in [&memory, &windows] {
        check(index, times, (Bound::Unbounded, Bound::Unbounded));
        for pair in keys.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            check(index, times, (Bound::Included(a), Bound::Excluded(b)));
            check(index, times, (Bound::Excluded(a), Bound::Included(b)));
            check(index, times, (Bound::Included(a), Bound::Included(a)));
            check(index, times, (Bound::Unbounded, Bound::Excluded(a)));
            check(index, times, (Bound::Excluded(a), Bound::Unbounded));
        }
    }
}

#[test]
fn the_extremes_of_time_are_found() {
    let times = [0, 0, 1, 5, 5, 5, u64::MAX - 1, u64::MAX, u64::MAX];
    let keys = [0, 1, 2, 5, 6, u64::MAX - 1, u64::MAX, 0, u64::MAX];
    check_all(1, &times, &keys);
    check_all(2, &[], &keys);
    check_all(1, &[7], &keys);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 80, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_query_finds_the_same_as_a_filter(
        version in 1..3_u8,
        // Steps of very different sizes produce runs of equal times, bursts and pauses.
        steps in vec(prop_oneof![Just(0), 0..3_u64, 0..1000_u64, Just(1 << 40)], 0..2500),
        back in proptest::option::weighted(0.3, any::<prop::sample::Index>()),
        keys in vec((any::<prop::sample::Index>(), 0..3_u64), 2..12),
    ) {
        let mut time = 100;
        let mut times: Vec<u64> = steps.iter().map(|step| { time += step; time }).collect();
        if let Some(back) = back.filter(|_| !times.is_empty()) {
            times[back.index(steps.len())] = 50;
        }
        let key = |(at, more): &(prop::sample::Index, u64)| {
            if times.is_empty() {
                *more
            } else {
                times[at.index(times.len())] + more - 1
            }
        };
        let keys: Vec<u64> = keys.iter().map(key).collect();
        check_all(version, &times, &keys);
    }
}

#[test]
fn a_query_reads_few_events_for_any_times() {
    let even: Vec<u64> = (0..100_000).map(|seq| 1000 + seq * 7).collect();
    // Use times for which interpolation is as wrong as possible.
    let powers = (45..55).map(|bit| 1_u64 << bit);
    let steep: Vec<u64> = (0..99_990).chain(powers).collect();
    let flat = vec![5; 100_000];
    for times in [even, steep, flat] {
        let (source, counts) = counted(file(1, &times).bytes());
        let reads = &counts.reads;
        let index = IndexReader::from_source(source).unwrap();
        // Use parts that do not begin at sampled timestamps.
        let threads = NonZero::new(3).unwrap();
        assert!(index.scan_parallel(threads).unwrap().is_ordered());
        for at in [1, 17, 50_000, 70_001, 99_989, 99_998] {
            reads.store(0, Ordering::Relaxed);
            let range = index.seq_range(times[at]..).unwrap().unwrap();
            let first = times.partition_point(|time| *time < times[at]);
            assert_eq!(range.start, first as u64);
            let for_start = reads.swap(0, Ordering::Relaxed);
            assert!(for_start <= 8, "{for_start} reads");
            index.seq_range(times[at]..=times[at] + 100).unwrap();
            let for_both = reads.load(Ordering::Relaxed);
            assert!(for_both <= 16, "{for_both} reads");
        }
    }
}
