//! A simple model of threads, and the expected result of merging them.

use std::ops::RangeInclusive;

use atf::index::IndexReader;
use atf::merge::{Merge, MergedEvent};
use proptest::collection::vec;
use proptest::prelude::*;

use atf_samples::files::{EventRecord, IndexFile, crc32c};

/// A thread, given by its id and the timestamps of its events.
#[derive(Debug, Clone)]
pub(crate) struct Thread {
    pub(crate) id: u32,
    pub(crate) times: Vec<u64>,
}

impl Thread {
    pub(crate) fn new(id: u32, times: impl IntoIterator<Item = u64>) -> Self {
        let times = times.into_iter().collect();
        Self { id, times }
    }

    /// Returns the thread's `index.atf`. Each event's function encodes the thread and the position.
    pub(crate) fn file(&self, version: u8) -> IndexFile {
        let event =
            |(seq, time): (u64, &u64)| EventRecord::new(*time, function_id(self.id, seq), 1, None);
        let mut file = IndexFile::new(version, (0..).zip(&self.times).map(event).collect());
        file.thread_id = self.id;
        file.checksum = crc32c(&file.section());
        if !self.times.is_sorted() {
            // Make the first and last times in the header wrong, because correct ones would prove
            // nothing about the times between them.
            let first = self.times.first().copied().unwrap_or_default();
            file.header_times = (first.wrapping_add(1), 0);
        }
        file
    }
}

fn function_id(thread: u32, seq: u64) -> u64 {
    (u64::from(thread) << 32) | seq
}

/// Merges the threads from memory.
pub(crate) fn merge(threads: &[Thread], version: u8) -> Merge {
    let open = |thread: &Thread| {
        let bytes = thread.file(version).bytes();
        (thread.id, IndexReader::from_bytes(bytes).unwrap())
    };
    Merge::new(threads.iter().map(open))
}

/// Checks each merged event and returns its thread and position.
pub(crate) fn places(events: impl Iterator<Item = atf::Result<MergedEvent>>) -> Vec<(u32, u64)> {
    let place = |event: atf::Result<MergedEvent>| {
        let MergedEvent {
            thread, seq, event, ..
        } = event.unwrap();
        assert_eq!(event.thread_id, thread);
        assert_eq!(event.function_id, function_id(thread, seq));
        (thread, seq)
    };
    events.map(place).collect()
}

/// Returns the thread and position of each event in this time range, in the guaranteed order: the
/// earliest of the threads' next events comes first, and ties are broken by thread id.
pub(crate) fn expected(threads: &[Thread], times: RangeInclusive<u64>) -> Vec<(u32, u64)> {
    let mut threads: Vec<_> = threads
        .iter()
        .map(|thread| {
            let events = (0..).zip(&thread.times);
            let wanted = events.filter(|(_, time)| times.contains(time));
            (thread.id, wanted.peekable())
        })
        .collect();
    threads.sort_by_key(|(id, _)| *id);
    let mut places = Vec::new();
    loop {
        let heads = threads.iter_mut();
        let heads = heads.filter_map(|(id, events)| Some((*events.peek()?.1, *id, events)));
        let Some((_, id, events)) = heads.min_by_key(|(time, id, _)| (*time, *id)) else {
            return places;
        };
        places.push((id, events.next().unwrap().0));
    }
}

/// Generates timestamps that are often equal, far apart or the maximum.
fn time() -> impl Strategy<Value = u64> {
    prop_oneof![
        8 => 0..20_u64,
        4 => 0..2000_u64,
        1 => Just(u64::MAX),
        1 => Just(u64::MAX - 1),
        1 => any::<u64>(),
    ]
}

/// Generates threads, some of them empty, with ordered or arbitrary times and runs of equal times.
pub(crate) fn threads(is_ordered: bool) -> impl Strategy<Value = Vec<Thread>> {
    let times = vec((time(), 1..20_usize), 0..30).prop_map(move |runs| {
        let mut runs = runs;
        if is_ordered {
            runs.sort_unstable();
        }
        let run = |(time, count)| std::iter::repeat_n(time, count);
        runs.into_iter().flat_map(run).collect::<Vec<u64>>()
    });
    vec(times, 0..9).prop_map(|threads| {
        let thread = |(place, times): (usize, Vec<u64>)| {
            Thread::new((u32::try_from(place).unwrap() * 5 + 3) % 11, times)
        };
        threads.into_iter().enumerate().map(thread).collect()
    })
}
