//! Analyses traces that are crafted to make the analysis use a lot of memory or time.

use std::collections::BTreeSet;

use atf::index::IndexReader;
use atf::spans::CallStack;
use atf::trace::Process;
use atf_analyze::Options;

use crate::segments::Visited;
use crate::{CALL, RETURN, Short, file};

fn index(events: &[Short]) -> Process {
    let index = IndexReader::from_bytes(file(0, events).bytes());
    index.unwrap().into()
}

#[test]
fn recursion_beyond_the_limit_loses_no_time() {
    let deep = CallStack::LIMIT as u64 + 1000;
    let calls = (0..deep).map(|at| (at, CALL, at % 2));
    let returns = (0..deep).map(|at| (deep + at, RETURN, (deep - 1 - at) % 2));
    let index = index(&calls.chain(returns).collect::<Vec<_>>());
    let functions = atf_analyze::functions(&index, &Options::default());
    let totals = functions.totals();
    assert_eq!((totals.calls, totals.open), (deep, 1000));
    assert_eq!((totals.unmatched, totals.given_up), (1000, 1000));
    let reported = |problems: &[atf_analyze::Problem]| {
        let kind = atf::ErrorKind::TooManyOpenCalls {
            given_up: 1000,
            limit: CallStack::LIMIT as u64,
        };
        problems.iter().any(|problem| *problem.error.kind() == kind)
    };
    assert!(reported(&functions.problems));
    // No call is open during the last thousand returns.
    assert_eq!(totals.busy_ns, 2 * deep - 1 - 1000);
    let self_ns: u64 = functions.functions.iter().map(|it| it.times.self_ns).sum();
    assert_eq!(self_ns, totals.busy_ns);
    let mut all = functions.functions.iter();
    assert!(all.all(|it| it.times.self_ns <= it.times.total_ns));

    let tree = atf_analyze::tree(&index, &Options::default());
    assert_eq!(tree.nodes.len() as u64, deep);
    assert_eq!(tree.nodes[0].times.total_ns, totals.busy_ns);
    assert!(reported(&tree.problems));
    let last = atf_analyze::last(&index, &Options::default(), 10, 10);
    assert!(reported(&last.problems));
    // Calls that were given up are never paired.
    assert_eq!(last.threads[0].open_count, 1000);
}

#[test]
fn a_call_beyond_the_limit_on_open_calls_is_reported() {
    let given_up = |open: u64| {
        let index = index(&(0..open).map(|at| (at, CALL, 1)).collect::<Vec<_>>());
        let mut visited = Visited::default();
        atf_analyze::calls(&index, &Options::default(), &mut visited).unwrap();
        visited.problems.into_iter().find_map(|kind| match kind {
            atf::ErrorKind::TooManyOpenCalls { given_up, limit } => Some((given_up, limit)),
            _ => None,
        })
    };
    assert_eq!(given_up(262_144), None);
    assert_eq!(given_up(262_145), Some((1, 262_144)));
}

#[test]
fn an_analysis_counts_the_same_events_out_of_order_as_a_scan() {
    for times in [&[1, 2, 3][..], &[1, 90, 2, 3, 4], &[5, 4, 3, 9, 9, 1], &[7]] {
        let events: Vec<_> = times.iter().map(|at| (*at, CALL, 1)).collect();
        let index = index(&events);
        let reader = index.threads()[0].files()[0].open_index().unwrap();
        let scanned = reader.scan().unwrap().disorder.map_or(0, |it| it.count);
        let functions = atf_analyze::functions(&index, &Options::default());
        assert_eq!(functions.totals().out_of_order, scanned, "{times:?}");
    }
}

#[test]
fn a_single_wrong_time_affects_no_other_event() {
    for wrong in [0, 1 << 62] {
        let mut events = [10, 20, 30, 40, 50, 60].map(|at| (at, CALL, 1));
        events[2].0 = wrong;
        let options = Options {
            to_ns: 60,
            ..Options::default()
        };
        let functions = atf_analyze::functions(index(&events), &options);
        let totals = functions.totals();
        assert_eq!((totals.events, totals.out_of_order), (6, 1));
        assert_eq!((totals.times, totals.busy_ns), (Some((10, 60)), 50));
    }
}

#[test]
fn a_million_functions_stay_within_the_limit() {
    let events = (0..1_000_000_u64).flat_map(|id| [(2 * id, CALL, id), (2 * id + 1, RETURN, id)]);
    let index = index(&events.collect::<Vec<_>>());
    let options = Options {
        max_functions: 1000,
        max_nodes: 1000,
        ..Options::default()
    };
    let functions = atf_analyze::functions(&index, &options);
    assert_eq!(functions.functions.len(), 1000);
    assert_eq!(functions.others.unwrap().times.calls, 999_000);
    let tree = atf_analyze::tree(&index, &options);
    assert!(tree.is_cut());
    assert_eq!(tree.nodes.len(), 1001);
    let others = tree.nodes.iter().find(|node| node.function_id.is_none());
    assert_eq!(others.unwrap().times.calls, 999_000);
}

#[test]
fn durations_are_coarsened_to_stay_within_the_bucket_limit() {
    // 100 functions, each with one call per power of two.
    let mut now_ns = 0;
    let mut events = Vec::new();
    for id in 0..100 {
        for power in 0..40 {
            events.push((now_ns, CALL, id));
            now_ns += 1 << power;
            events.push((now_ns, RETURN, id));
        }
    }
    let index = index(&events);
    let mut before = 0;
    for (max_buckets, coarseness) in [(4_000, 0), (3_999, 2), (2_000, 6), (100, 11), (0, 11)] {
        let options = Options {
            max_buckets,
            ..Options::default()
        };
        let found = atf_analyze::functions(&index, &options);
        let functions = found.functions.iter();
        let buckets: usize = functions.map(|it| it.durations.buckets().count()).sum();
        // A function with different durations has at least one bucket.
        let most = max_buckets.max(100);
        assert!(buckets <= most, "{buckets} of {max_buckets}");
        assert!(found.coarseness >= before, "{max_buckets}");
        before = found.coarseness;
        assert_eq!(found.coarseness, coarseness, "{max_buckets}: {buckets}");
        assert_eq!(found.coarseness_note().is_some(), coarseness > 0);
        for function in &found.functions {
            let durations = &function.durations;
            let extremes = (durations.min_ns(), durations.max_ns(), durations.count());
            assert_eq!(extremes, (Some(1), Some(1 << 39), 40));
        }
    }
}

#[test]
fn time_that_goes_back_or_wraps_does_not_distort_totals() {
    let most = u64::MAX;
    let events = [
        (most, CALL, 1),
        (0, CALL, 2),
        (5, RETURN, 2),
        (most, RETURN, 1),
        (3, RETURN, 9),
    ];
    let functions = atf_analyze::functions(index(&events), &Options::default());
    let totals = functions.totals();
    assert_eq!((totals.out_of_order, totals.unmatched), (2, 1));
    assert_eq!((totals.busy_ns, totals.times), (0, Some((most, most))));
    let functions = functions.functions.iter();
    let ids: BTreeSet<_> = functions.map(|it| it.function_id).collect();
    assert_eq!(ids, [1, 2, 9].into());

    let events = [
        (0, CALL, 1),
        (most, RETURN, 1),
        (0, CALL, 1),
        (most, RETURN, 1),
    ];
    let functions = atf_analyze::functions(index(&events), &Options::default());
    assert_eq!(functions.functions[0].times.total_ns, most);
    assert_eq!(functions.functions[0].durations.max_ns(), Some(most));
    // A range that ends before it begins contains nothing.
    let options = Options {
        from_ns: 9,
        to_ns: 8,
        ..Options::default()
    };
    let functions = atf_analyze::functions(index(&events), &options);
    assert_eq!(functions.totals().events, 0);
}
