//! Compares the order of events with a model that examines all threads for each event.

use std::ops::Bound;

use atf::index::IndexReader;
use atf::merge::{Merge, Merged};
use proptest::prelude::*;

use crate::model::{Thread, expected, merge, places, threads};

/// Merges the same threads in two ways: from memory, and through the smallest buffers.
fn both_ways(threads: &[Thread], version: u8) -> [Vec<(u32, u64)>; 4] {
    let in_memory = merge(threads, version);
    // Take a third of the events one by one, which often ends in the middle of a thread's turn.
    let sizes = threads.iter().map(|thread| thread.times.len());
    let begun = sizes.sum::<usize>() / 3;
    let folded = |mut merged: Merged<'_>| {
        let mut events: Vec<_> = merged.by_ref().take(begun).collect();
        merged.for_each(|event| events.push(event));
        places(events.into_iter())
    };
    [
        places(in_memory.events()),
        folded(in_memory.events()),
        places(merge(threads, version).buffer_budget(0).into_events()),
        folded(merge(threads, version).buffer_budget(0).into_events()),
    ]
}

/// Returns the concatenated partitions.
fn joined(merge: &Merge, count: usize) -> Vec<(u32, u64)> {
    let parts = merge.partitions(count);
    assert!((1..=count.max(1)).contains(&parts.len()));
    parts.into_iter().flat_map(places).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn events_come_by_time_then_thread_then_position(
        threads in threads(true),
        version in 1..3_u8,
        parts in 0..9_usize,
    ) {
        let mut sorted: Vec<_> = threads
            .iter()
            .flat_map(|thread| (0..).zip(&thread.times).map(|(seq, time)| (*time, thread.id, seq)))
            .collect();
        sorted.sort_unstable();
        let sorted: Vec<(u32, u64)> = sorted.into_iter().map(|(_, id, seq)| (id, seq)).collect();
        prop_assert_eq!(&expected(&threads, 0..=u64::MAX), &sorted);
        for found in both_ways(&threads, version) {
            prop_assert_eq!(&found, &sorted);
        }
        prop_assert_eq!(&joined(&merge(&threads, 1), parts), &sorted);
    }

    #[test]
    fn the_last_events_are_those_of_each_thread(
        threads in threads(true),
        count in 0..40_usize,
        parts in 1..4_usize,
    ) {
        let wants = |(id, seq): &(u32, u64)| (u64::from(*id) + seq) % 3 > 0;
        let all: Vec<_> = expected(&threads, 0..=u64::MAX).into_iter().filter(wants).collect();
        let later = |at: usize| all[at..].iter().filter(|it| it.0 == all[at].0).count();
        let expected: Vec<_> = (0..all.len()).filter(|at| later(*at) <= count).map(|at| all[at]).collect();
        let merge = merge(&threads, 1).last(count, |it| wants(&(it.thread, it.seq)));
        for mut found in [places(merge.events()), joined(&merge, parts)] {
            found.retain(wants);
            prop_assert_eq!(&found, &expected);
        }
    }

    #[test]
    fn a_thread_that_goes_back_in_time_keeps_its_order(
        threads in threads(false),
        version in 1..3_u8,
        parts in 0..9_usize,
    ) {
        let expected = expected(&threads, 0..=u64::MAX);
        for found in both_ways(&threads, version) {
            prop_assert_eq!(&found, &expected);
        }
        prop_assert_eq!(&joined(&merge(&threads, 1), parts), &expected);
    }

    #[test]
    fn a_time_range_excludes_events_outside_it(
        threads in prop_oneof![threads(true), threads(false)],
        times in prop_oneof![(0..25_u64, 0..25_u64), (any::<u64>(), any::<u64>())],
    ) {
        let (first, last) = times;
        let expected = expected(&threads, first..=last);
        let of = |merge: Merge| merge.time_range(first..=last);
        prop_assert_eq!(&places(of(merge(&threads, 1)).events()), &expected);
        prop_assert_eq!(&places(of(merge(&threads, 2)).buffer_budget(0).into_events()), &expected);
        prop_assert_eq!(&joined(&of(merge(&threads, 2)), 3), &expected);
    }
}

#[test]
fn each_bound_of_a_time_range_is_respected() {
    let threads = [Thread::new(0, [1, 2, 2, 3, 4, u64::MAX])];
    let count = |merge: Merge| merge.events().count();
    let merge = || merge(&threads, 1);
    assert_eq!(count(merge().time_range(2..4)), 3);
    assert_eq!(count(merge().time_range(2..=4)), 4);
    let after = |time| (Bound::Excluded(time), Bound::Unbounded);
    assert_eq!(count(merge().time_range(after(2))), 3);
    assert_eq!(count(merge().time_range(..2)), 1);
    assert_eq!(count(merge().time_range(..0)), 0);
    assert_eq!(count(merge().time_range(u64::MAX..)), 1);
    assert_eq!(count(merge().time_range(after(u64::MAX))), 0);
    assert_eq!(count(merge().time_range(..)), 6);
}

/// Threads whose times span the whole range of 64 bits, in steps that are larger than the times
/// that a merge can compare at once.
#[test]
fn events_whose_times_are_far_apart_are_in_order() {
    for is_ordered in [true, false] {
        let thread = |id: u32| {
            let time = |seq: u64| {
                let step = (u64::from(id) * 3 + seq * 5) % 64;
                (step << 58) + u64::from(id) % 3
            };
            let mut times: Vec<_> = (0..300).map(time).collect();
            if is_ordered {
                times.sort_unstable();
            }
            Thread::new(id, times)
        };
        let threads: Vec<_> = (0..50).map(thread).collect();
        let expected = expected(&threads, 0..=u64::MAX);
        for found in both_ways(&threads, 1) {
            assert!(found == expected);
        }
    }
}

#[test]
fn any_number_of_partitions_may_be_requested() {
    let threads = [Thread::new(0, 0..5000)];
    let expected = expected(&threads, 0..=u64::MAX);
    for count in [5000, 1 << 40, usize::MAX] {
        assert_eq!(joined(&merge(&threads, 1), count), expected, "{count}");
    }
}

#[test]
fn equal_timestamps_stay_in_one_partition() {
    let thread = |id| Thread::new(id, [[5; 400], [6; 400]].concat());
    let threads: Vec<Thread> = (0..3).map(thread).collect();
    let merge = merge(&threads, 1);
    let times = |part: Merged<'_>| {
        let times = part.map(|event| event.unwrap().event.timestamp_ns);
        let mut times: Vec<u64> = times.collect();
        times.dedup();
        times
    };
    let parts: Vec<_> = merge.partitions(8).into_iter().map(times).collect();
    assert_eq!(parts.concat(), [5, 6]);
}

#[test]
fn partitions_are_about_equally_large() {
    let thread = |id: u32| Thread::new(id, (0..5000).map(|seq| seq * u64::from(id + 1)));
    let threads: Vec<Thread> = (0..4).map(thread).collect();
    let merge = merge(&threads, 2);
    let parts = merge.partitions(4).into_iter();
    let sizes: Vec<usize> = parts.map(Iterator::count).collect();
    assert_eq!(sizes.len(), 4);
    let is_fair = |size| (4500..5500).contains(size);
    assert!(sizes.iter().all(is_fair), "{sizes:?}");
}

/// The threads are long enough for a merge to detect regular turns, and to detect them again after
/// they change.
#[test]
fn regular_turns_and_ties_among_them_are_in_order() {
    // The distances between the threads' times: none, ascending, descending.
    let apart: [fn(u64) -> u64; 3] = [|_| 0, |id| id, |id| 9 - id];
    for (count, first, second) in [(5, 0, 1), (5, 1, 2), (8, 2, 0), (3, 1, 1)] {
        let thread = |id: u32| {
            let half = |seq| if seq < 2500 { first } else { second };
            let time = |seq: u64| seq * 10 + apart[half(seq)](id.into());
            Thread::new(id, (0..5000).map(time))
        };
        let seldom = Thread::new(9, [3, 14_000, 14_000, 33_001, 60_000]);
        let threads: Vec<Thread> = (0..count).map(thread).chain([seldom]).collect();
        let expected = expected(&threads, 0..=u64::MAX);
        for places in both_ways(&threads, 1) {
            // `assert_eq` would print all events.
            assert!(places == expected, "{count} threads, {first} then {second}");
        }
    }
}

#[test]
fn unselected_threads_are_omitted() {
    let threads = [0, 1, 2, 3].map(|id| Thread::new(id, [1, 2]));
    let merge = merge(&threads, 1).threads([3, 1, 9]);
    assert_eq!(places(merge.events()), [(1, 0), (3, 0), (1, 1), (3, 1)]);
}

#[test]
fn files_with_the_same_id_are_merged_in_the_given_order() {
    let file = |function_id| {
        let mut file = Thread::new(4, [7]).file(1);
        file.events[0].function_id = function_id;
        file.checksum = 0;
        (4, IndexReader::from_bytes(file.bytes()).unwrap())
    };
    let merge = Merge::new([file(30), file(10), file(20)]);
    let functions = merge.events().map(|it| it.unwrap().event.function_id);
    assert_eq!(functions.collect::<Vec<_>>(), [30, 10, 20]);
}

#[test]
fn iterators_can_be_sent_to_other_threads() {
    fn is_send<T: Send>(_: &T) {}
    let merge = merge(&[], 1);
    is_send(&merge.events());
    assert_eq!(merge.events().count(), 0);
    assert_eq!(merge.partitions(4).len(), 1);
}

#[test]
fn size_hints_of_merged_events_are_never_exceeded() {
    let threads = [Thread::new(1, [1, 3, 5]), Thread::new(2, [2, 4])];
    let merge = merge(&threads, 1);
    let mut events = merge.events();
    for left in (0..=5).rev() {
        let (least, most) = events.size_hint();
        assert!(least <= left, "{left}");
        assert!(most.is_none_or(|most| most >= left), "{left}");
        assert_eq!(events.next().is_some(), left > 0);
    }
}
