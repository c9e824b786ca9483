//! Tests that analysing a cut gives the same numbers as analysing that time range of the original.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::Path;

use atf::rewrite::{CutOptions, cut};
use atf::session::SessionReader;
use atf::trace::Process;
use atf_analyze::Options;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::model::Expected;
use crate::numbers::{ordered, well_formed};
use crate::segments::splits;
use crate::{Short, segments, session};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn calls_and_times_of_a_cut_are_those_of_its_range(
        threads in vec(prop_oneof![ordered(), well_formed()], 1..4),
        ranges in [range(), range()],
    ) {
        let (_folder, original) = session(&threads);
        let open = |path: &Path| Process::from(SessionReader::open(path).unwrap());
        check_cuts(original.path(), open, &threads, &ranges);
    }

    #[test]
    fn calls_and_times_of_a_cut_over_segments_are_those_of_its_range(
        threads in splits(4),
        ranges in [range(), range()],
    ) {
        let folder = tempfile::tempdir().unwrap();
        segments::write(folder.path(), &threads);
        check_cuts(folder.path(), segments::open, &segments::events(&threads), &ranges);
    }
}

fn range() -> impl Strategy<Value = RangeInclusive<u64>> {
    (0..4000_u64, 0..3000_u64).prop_map(|(from_ns, size)| from_ns..=from_ns + size)
}

/// Cuts a trace to a range, and the result to another one, and checks the numbers of both cuts.
fn check_cuts(
    original: &Path,
    open: impl Fn(&Path) -> Process,
    events: &[Vec<Short>],
    [range, again]: &[RangeInclusive<u64>; 2],
) {
    let out = tempfile::tempdir().unwrap();
    let [first, second] = ["first", "second"].map(|name| out.path().join(name));
    let cut_to = |range: &RangeInclusive<u64>, from: &Path, to: &Path| {
        let options = CutOptions::default();
        let options = options.from_ns(*range.start()).to_ns(*range.end());
        cut(from, to, &options).unwrap();
    };
    cut_to(range, original, &first);
    let part = open(&first);
    assert_eq!(part.deleted(), None);
    assert_numbers(&part, &Expected::new(events, range));
    cut_to(again, &first, &second);
    // Cutting twice is the same as cutting once to the intersection of both ranges.
    let both = *range.start().max(again.start())..=*range.end().min(again.end());
    if !both.is_empty() {
        assert_numbers(&open(&second), &Expected::new(events, &both));
    }
}

fn assert_numbers(part: &Process, expected: &Expected) {
    let functions = atf_analyze::functions(part, &Options::default());
    assert!(functions.problems.is_empty(), "{:?}", functions.problems);
    let found: BTreeMap<u64, [u64; 3]> = functions
        .functions
        .iter()
        .filter(|it| it.times.calls > 0)
        .map(|it| {
            let times = &it.times;
            (it.function_id, [times.calls, times.self_ns, times.total_ns])
        })
        .collect();
    let numbers = expected.functions.iter();
    let numbers = numbers.map(|(id, it)| (*id, [it.calls, it.self_ns, it.total_ns]));
    assert_eq!(found, numbers.collect());
    let unmatched = functions.functions.iter().filter(|it| it.unmatched > 0);
    let unmatched: BTreeMap<_, _> = unmatched.map(|it| (it.function_id, it.unmatched)).collect();
    assert_eq!(unmatched, expected.unmatched);
    // The added events are marked as added.
    let sessions = part.sessions().iter();
    let listed = sessions.flat_map(|it| &it.manifest().unwrap().threads);
    let added = |cut: &atf::manifest::Cut| cut.calls + cut.returns;
    let added: u64 = listed.map(|it| added(it.cut.as_ref().unwrap())).sum();
    assert_eq!(functions.totals().events - added, expected.events);
}
