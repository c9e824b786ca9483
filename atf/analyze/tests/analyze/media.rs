//! Tests that an analysis on a recording's clock gives the same numbers as an analysis of a trace
//! whose timestamps were converted first.

use atf::clock::{MediaClock, MediaTime, TimingAnchor};
use atf::trace::Process;
use atf_analyze::{Options, functions, last, tree};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::numbers::{broken, ranges, well_formed};
use crate::{Short, session};

/// Creates a clock from steps, each given as nanoseconds on the trace's clock and on the
/// recording's.
fn clock(steps: &[(u64, u64)]) -> MediaClock {
    let (mut host_ns, mut media_ns) = (0, 0);
    let anchors: Vec<_> = steps
        .iter()
        .map(|(host, media)| {
            (host_ns, media_ns) = (host_ns + host, media_ns + media);
            let media = MediaTime::new(media_ns.try_into().unwrap(), 1_000_000_000);
            TimingAnchor::new(host_ns, media)
        })
        .collect();
    MediaClock::new(&anchors).unwrap()
}

fn converted(threads: &[Vec<Short>], clock: &MediaClock) -> Vec<Vec<Short>> {
    let event = |event: &Short| (clock.to_media_ns_or_zero(event.0), event.1, event.2);
    let thread = |thread: &Vec<Short>| thread.iter().map(event).collect();
    threads.iter().map(thread).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn numbers_are_those_of_converted_timestamps(
        threads in vec(prop_oneof![broken(), well_formed()], 1..4),
        steps in vec((1..2_000_u64, 1..2_000_u64), 1..6),
        range in ranges(),
    ) {
        let clock = clock(&steps);
        let (_trace, trace) = session(&threads);
        let (_media, media) = session(&converted(&threads, &clock));
        let (from_ns, to_ns) = range.clone().into_inner();
        let options = Options { from_ns, to_ns, ..Options::default() };
        let trace = Process::from(trace).with_clock(Some(clock));
        let found = functions(&trace, &options);
        let expected = functions(&media, &options);
        let [mut found_totals, mut totals] = [found.totals(), expected.totals()];
        // The sessions are in different folders.
        for totals in [&mut found_totals, &mut totals] {
            let places = totals.first_out_of_order.as_mut();
            places.into_iter().for_each(|place| place.path = None);
        }
        prop_assert_eq!(found_totals, totals);
        prop_assert_eq!(found.functions, expected.functions);
        let found = tree(&trace, &options);
        let expected = tree(&media, &options);
        prop_assert_eq!(found.nodes, expected.nodes);
        let found = last(&trace, &options, 9, 9).threads;
        let expected = last(&media, &options, 9, 9).threads;
        prop_assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(&expected) {
            prop_assert_eq!(&found.events, &expected.events);
            prop_assert_eq!(&found.open, &expected.open);
            prop_assert_eq!(found.times, expected.times);
        }
    }
}
