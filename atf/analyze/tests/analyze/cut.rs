//! Tests that analysing a cut gives the same numbers as analysing that time range of the original.

use std::collections::BTreeMap;

use atf::rewrite::{CutOptions, cut};
use atf::session::SessionReader;
use atf::trace::Process;
use atf_analyze::Options;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::model::Expected;
use crate::numbers::{ordered, well_formed};
use crate::segments::splits;
use crate::{segments, session};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn calls_and_times_of_a_cut_are_those_of_its_range(
        threads in vec(prop_oneof![ordered(), well_formed()], 1..4),
        (from_ns, size) in (0..4000_u64, 0..3000_u64),
        again in (0..4000_u64, 0..3000_u64),
    ) {
        let (_folder, original) = session(&threads);
        let out = tempfile::tempdir().unwrap();
        let cut_to = |from_ns: u64, to_ns: u64, path: &std::path::Path, name: &str| {
            let path_of_cut = out.path().join(name);
            let options = CutOptions::default().from_ns(from_ns).to_ns(to_ns);
            cut(path, &path_of_cut, &options).unwrap();
            SessionReader::open(path_of_cut).unwrap()
        };
        let range = from_ns..=from_ns + size;
        let first = cut_to(*range.start(), *range.end(), original.path(), "cut");
        let path = first.path().to_path_buf();
        assert_numbers(first, &Expected::new(&threads, &range));
        // Cutting twice is the same as cutting once to the intersection of both ranges.
        let to_ns = again.0 + again.1;
        let second = cut_to(again.0, to_ns, &path, "again");
        let both = again.0.max(from_ns)..=to_ns.min(*range.end());
        if !both.is_empty() {
            assert_numbers(second, &Expected::new(&threads, &both));
        }
    }

    #[test]
    fn calls_and_times_of_a_cut_over_segments_are_those_of_its_range(
        threads in splits(4),
        (from_ns, size) in (0..4000_u64, 0..3000_u64),
        again in (0..4000_u64, 0..3000_u64),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let [all, first, second] = ["all", "first", "second"].map(|name| folder.path().join(name));
        segments::write(&all, &threads);
        let options = CutOptions::default().from_ns(from_ns).to_ns(from_ns + size);
        cut(&all, &first, &options).unwrap();
        let events = segments::events(&threads);
        let range = from_ns..=from_ns + size;
        let part = segments::open(&first);
        prop_assert_eq!(part.deleted(), None);
        assert_numbers(part, &Expected::new(&events, &range));
        let to_ns = again.0 + again.1;
        cut(&first, &second, &CutOptions::default().from_ns(again.0).to_ns(to_ns)).unwrap();
        let both = again.0.max(from_ns)..=to_ns.min(*range.end());
        if !both.is_empty() {
            assert_numbers(segments::open(&second), &Expected::new(&events, &both));
        }
    }
}

fn assert_numbers(part: impl Into<Process>, expected: &Expected) {
    let part = part.into();
    let functions = atf_analyze::functions(&part, &Options::default());
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
