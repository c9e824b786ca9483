//! Compares every number in an analysis with the naive computation.

use std::num::NonZero;
use std::ops::RangeInclusive;

use atf::trace::Process;
use atf_analyze::{Functions, Node, Options, Pair, Times};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::model::{Expected, Numbers};
use crate::{CALL, EXCEPTION, RETURN, Short, session};

fn numbers(times: &Times) -> Numbers {
    Numbers {
        calls: times.calls,
        open: times.open,
        self_ns: times.self_ns,
        total_ns: times.total_ns,
    }
}

/// Generates arbitrary events whose times mostly increase.
pub(crate) fn broken() -> impl Strategy<Value = Vec<Short>> {
    let event = (
        prop_oneof![9 => 0..200_u64, 1 => Just(100_000)],
        prop_oneof![9 => CALL..=EXCEPTION, 1 => 0..9_u32],
        0..5_u64,
        prop::bool::weighted(0.1),
    );
    vec(event, 0..60).prop_map(|events| {
        let mut now = 1_000_u64;
        let event = |(wait, kind, function_id, is_back): (u64, u32, u64, bool)| {
            if is_back {
                return (now.saturating_sub(wait), kind, function_id);
            }
            now += wait;
            (now, kind, function_id)
        };
        events.into_iter().map(event).collect()
    })
}

/// Generates such events, but without decreasing times.
pub(crate) fn ordered() -> impl Strategy<Value = Vec<Short>> {
    broken().prop_map(|mut events| {
        let mut now = 0;
        for event in &mut events {
            now = event.0.max(now);
            event.0 = now;
        }
        events
    })
}

/// Generates calls that return in order, except for calls that are open at the end.
pub(crate) fn well_formed() -> impl Strategy<Value = Vec<Short>> {
    vec((0..200_u64, prop::option::of(0..5_u64)), 0..80).prop_map(|steps| {
        let (mut now, mut stack, mut events) = (1_000, Vec::new(), Vec::new());
        for (wait, call) in steps {
            now += wait;
            match call {
                Some(function_id) => {
                    stack.push(function_id);
                    events.push((now, CALL, function_id));
                }
                None => events.extend(stack.pop().map(|function_id| (now, RETURN, function_id))),
            }
        }
        events
    })
}

fn threads() -> impl Strategy<Value = Vec<Vec<Short>>> {
    vec(prop_oneof![broken(), well_formed()], 1..5)
}

pub(crate) fn ranges() -> impl Strategy<Value = RangeInclusive<u64>> {
    let some = (0..6_000_u64, 0..6_000_u64).prop_map(|(from, length)| from..=from + length);
    prop_oneof![Just(0..=u64::MAX), some]
}

pub(crate) fn check_functions(functions: &Functions, expected: &Expected) {
    let found = functions.functions.iter();
    let with_calls = found.clone().filter(|function| function.times.calls > 0);
    let of: Vec<_> = with_calls
        .clone()
        .map(|function| (function.function_id, numbers(&function.times)))
        .collect();
    let mut in_order: Vec<_> = expected.functions.clone().into_iter().collect();
    in_order.sort_by_key(|(id, numbers)| (u64::MAX - numbers.self_ns, *id));
    assert_eq!(of, in_order);
    for function in with_calls {
        let mut exact = expected.durations.get(&function.function_id).cloned();
        let exact = exact.get_or_insert_default();
        exact.sort_unstable();
        let durations = &function.durations;
        assert_eq!(durations.count(), exact.len() as u64);
        assert_eq!(durations.min_ns(), exact.first().copied());
        assert_eq!(durations.max_ns(), exact.last().copied());
        for permille in [0, 10, 500, 990, 1000] {
            let rank = (exact.len() * permille as usize).div_ceil(1000).max(1);
            let exact = exact.get(rank - 1).copied();
            let found = durations.quantile_ns(permille);
            assert_eq!(found.is_some(), exact.is_some());
            let is_near = found
                .zip(exact)
                .is_none_or(|(a, b)| a.abs_diff(b) <= b / 64);
            assert!(is_near, "{permille}: {found:?}, expected {exact:?}");
        }
    }
    let unmatched = found.filter(|function| function.unmatched > 0);
    let mut unmatched: Vec<_> = unmatched.map(|it| (it.function_id, it.unmatched)).collect();
    unmatched.sort_unstable();
    let expected_unmatched: Vec<_> = expected.unmatched.clone().into_iter().collect();
    assert_eq!(unmatched, expected_unmatched);

    let totals = functions.totals();
    let sum = |of: fn(&Times) -> u64| {
        let all = functions.functions.iter();
        all.map(|it| of(&it.times)).sum::<u64>()
    };
    assert_eq!(totals.busy_ns, expected.busy_ns);
    assert_eq!(totals.busy_ns, sum(|times| times.self_ns));
    assert_eq!(totals.calls, sum(|times| times.calls));
    assert_eq!(totals.open, sum(|times| times.open));
    assert_eq!(totals.events, expected.events);
    assert_eq!(totals.unmatched, expected.unmatched.values().sum::<u64>());
    let mut all = functions.functions.iter();
    assert!(all.all(|it| it.times.total_ns >= it.times.self_ns));
}

/// Returns each node's call path, which ends with the node itself.
fn paths(nodes: &[Node]) -> Vec<(Vec<u64>, Numbers)> {
    let mut path = Vec::new();
    let mut of = |node: &Node| {
        path.truncate(node.depth as usize);
        path.push(node.function_id.unwrap());
        (path.clone(), numbers(&node.times))
    };
    nodes.iter().map(&mut of).collect()
}

pub(crate) fn check_all(session: &Process, options: &Options, expected: &Expected) {
    let functions = atf_analyze::functions(session, options);
    assert!(functions.problems.is_empty(), "{:?}", functions.problems);
    assert!(functions.others.is_none());
    check_functions(&functions, expected);

    let tree = atf_analyze::tree(session, options);
    assert_eq!(tree.threads, functions.threads);
    let mut found = paths(&tree.nodes);
    for (place, (path, numbers)) in found.iter().enumerate() {
        let after = found[place + 1..].iter();
        let mut siblings = after
            .take_while(|(other, _)| other.len() >= path.len())
            .filter(|(other, _)| other.len() == path.len());
        assert!(siblings.all(|(_, other)| other.total_ns <= numbers.total_ns));
    }
    found.sort();
    let in_order: Vec<_> = expected.paths.clone().into_iter().collect();
    assert_eq!(found, in_order);

    let pairs = atf_analyze::pairs(session, options);
    let key = |pair: &Pair| ((pair.caller, pair.callee), numbers(&pair.times));
    let mut found: Vec<_> = pairs.pairs.iter().map(key).collect();
    found.sort();
    let in_order: Vec<_> = expected.pairs.clone().into_iter().collect();
    assert_eq!(found, in_order);
    for function_id in 0..5 {
        let callers = pairs.callers(function_id).map(|pair| pair.times.calls);
        let numbers = expected.functions.get(&function_id);
        assert_eq!(callers.sum::<u64>(), numbers.map_or(0, |it| it.calls));
        let mut callees = pairs.callees(function_id);
        assert!(callees.all(|pair| pair.caller == Some(function_id)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn all_numbers_are_those_of_a_naive_computation(threads in threads(), range in ranges()) {
        let (_folder, session) = session(&threads);
        let expected = Expected::new(&threads, &range);
        let (from_ns, to_ns) = (*range.start(), *range.end());
        for jobs in [1, 3] {
            let options = Options { from_ns, to_ns, jobs: NonZero::new(jobs), ..Options::default() };
            check_all(&Process::from(&session), &options, &expected);
        }
    }

    #[test]
    fn a_single_thread_has_its_own_numbers(threads in threads()) {
        let (_folder, session) = session(&threads);
        for (id, events) in (0..).zip(&threads) {
            let expected = Expected::new(std::slice::from_ref(events), &(0..=u64::MAX));
            let options = Options { threads: [id].into(), ..Options::default() };
            check_all(&Process::from(&session), &options, &expected);
        }
    }

    /// A low limit makes the threads merge only a few nodes at a time.
    #[test]
    fn a_tree_depends_neither_on_the_cores_nor_on_when_threads_merge(
        threads in threads(),
        fewer in 0..6_usize,
    ) {
        let (_folder, session) = session(&threads);
        let tree = |limit: usize, jobs: usize| {
            let options = Options { max_nodes: limit, jobs: NonZero::new(jobs), ..Options::default() };
            atf_analyze::tree(&session, &options).nodes
        };
        let all = tree(1_000_000, 1);
        for jobs in [1, 3] {
            prop_assert_eq!(&tree(all.len(), jobs), &all);
        }
        let limit = all.len().saturating_sub(fewer);
        prop_assert_eq!(tree(limit, 3), tree(limit, 1));
    }

    #[test]
    fn rows_and_ranges_of_durations_depend_neither_on_the_cores_nor_on_the_order(
        threads in threads(),
        limit in 0..6_usize,
        max_buckets in 0..40_usize,
    ) {
        let (_folder, session) = session(&threads);
        let options = |jobs: usize| {
            let options = Options { max_functions: limit, max_nodes: limit, ..Options::default() };
            Options { max_buckets, jobs: NonZero::new(jobs), ..options }
        };
        let functions = |jobs| atf_analyze::functions(&session, &options(jobs));
        let [one, three] = [1, 3].map(functions);
        prop_assert_eq!(&one.functions, &three.functions);
        prop_assert_eq!((&one.others, one.coarseness), (&three.others, three.coarseness));
        let [one, three] = [1, 3].map(|jobs| atf_analyze::pairs(&session, &options(jobs)));
        prop_assert_eq!((one.pairs, one.others), (three.pairs, three.others));
    }

    #[test]
    fn the_numbers_of_functions_without_a_row_are_added_up(threads in threads(), limit in 0..6_usize) {
        let (_folder, session) = session(&threads);
        let options = Options { max_functions: limit, max_nodes: limit, ..Options::default() };
        let functions = atf_analyze::functions(&session, &options);
        assert!(functions.functions.len() <= limit);
        let totals = functions.totals();
        let others = functions.others.iter().map(|it| it.times);
        let all = functions.functions.iter().map(|it| it.times).chain(others);
        let (self_ns, calls) = all.fold((0, 0), |all, it| (all.0 + it.self_ns, all.1 + it.calls));
        assert_eq!((self_ns, calls), (totals.busy_ns, totals.calls));

        let tree = atf_analyze::tree(&session, &options);
        assert!(tree.nodes.iter().filter(|it| it.function_id.is_some()).count() <= limit);
        let sum = |of: fn(&Times) -> u64| tree.nodes.iter().map(|it| of(&it.times)).sum::<u64>();
        assert_eq!(sum(|times| times.self_ns), totals.busy_ns);
        assert_eq!(sum(|times| times.calls), totals.calls);
        let outermost = tree.nodes.iter().filter(|node| node.depth == 0);
        assert_eq!(outermost.map(|node| node.times.total_ns).sum::<u64>(), totals.busy_ns);

        let pairs = atf_analyze::pairs(&session, &options);
        let all = pairs.pairs.iter().map(|it| it.times).chain(pairs.others);
        assert_eq!(all.map(|times| times.calls).sum::<u64>(), totals.calls);
    }
}
