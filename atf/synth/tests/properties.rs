//! Properties of every generated trace.

use std::collections::{BTreeMap, BTreeSet};

use atf::EventKind;
use atf_synth::{Shape, Synth, SynthEvent};
use sha2::{Digest as _, Sha256};

const SHAPES: [Shape; 6] = [
    Shape::Independent,
    Shape::Random,
    Shape::Runs { min: 1, max: 1 },
    Shape::Runs { min: 10, max: 1000 },
    Shape::FewActive(4),
    Shape::Interleave,
];

fn synth(shape: Shape) -> Synth {
    Synth {
        seed: 42,
        threads: 7,
        events_per_thread: 30_000,
        shape,
        ..Synth::default()
    }
}

fn threads(synth: &Synth) -> Vec<Vec<SynthEvent>> {
    let thread = |thread| synth.thread(thread).collect();
    (0..synth.threads).map(thread).collect()
}

/// Returns the thread of each event, in time order.
fn order(synth: &Synth) -> Vec<usize> {
    let mut all: Vec<(u64, usize)> = Vec::new();
    for (thread, events) in threads(synth).into_iter().enumerate() {
        all.extend(events.iter().map(|made| (made.event.timestamp_ns, thread)));
    }
    all.sort_unstable();
    all.into_iter().map(|(_, thread)| thread).collect()
}

#[test]
fn a_seed_gives_the_same_bytes_on_every_machine() {
    let mut hash = Sha256::new();
    let mut payload = Vec::new();
    for shape in SHAPES {
        for made in synth(shape).thread(3).take(5_000) {
            let event = made.event;
            hash.update(event.timestamp_ns.to_le_bytes());
            hash.update(event.function_id.to_le_bytes());
            hash.update(event.event_kind.0.to_le_bytes());
            hash.update(event.call_depth.to_le_bytes());
            if let Some(registers) = made.detail {
                registers.write_payload(&mut payload);
                hash.update(&payload);
            }
        }
    }
    let expected = "fb1e530fccb4588c91e94e28139b443afab71add548effbc2dac870a8ed5b6ed";
    assert_eq!(format!("{:x}", hash.finalize()), expected);
}

#[test]
fn calls_nest_and_time_never_goes_back() {
    for shape in SHAPES {
        for events in threads(&synth(shape)) {
            assert_eq!(events.len(), 30_000);
            let mut stack = Vec::new();
            let mut last = 0;
            for SynthEvent { event, .. } in events {
                assert!(event.timestamp_ns >= last, "{shape:?}");
                last = event.timestamp_ns;
                if event.event_kind == EventKind::CALL {
                    stack.push(event.function_id);
                    assert_eq!(event.call_depth as usize, stack.len());
                } else {
                    assert_eq!(event.call_depth as usize, stack.len());
                    assert_eq!(stack.pop(), Some(event.function_id));
                }
            }
            assert!(!stack.is_empty(), "some calls are not finished");
        }
    }
}

#[test]
fn a_trace_has_exceptions_recursion_bursts_and_favourites() {
    let events: Vec<_> = synth(Shape::Independent).thread(0).collect();
    let mut kinds = BTreeMap::new();
    let mut calls: BTreeMap<u64, u32> = BTreeMap::new();
    let (mut stack, mut recursions, mut deepest) = (Vec::new(), 0, 0);
    let (mut run, mut longest_run, mut last) = (0, 0, 0);
    for SynthEvent { event, .. } in &events {
        *kinds.entry(event.event_kind.0).or_insert(0) += 1;
        deepest = deepest.max(event.call_depth);
        if event.event_kind != EventKind::CALL {
            stack.pop();
            continue;
        }
        recursions += u32::from(stack.last() == Some(&event.function_id));
        stack.push(event.function_id);
        *calls.entry(event.function_id).or_default() += 1;
        run = if event.function_id == last {
            run + 1
        } else {
            1
        };
        last = event.function_id;
        longest_run = longest_run.max(run);
    }
    assert_eq!(kinds.keys().copied().collect::<Vec<_>>(), [1, 2, 3]);
    assert!(kinds[&3] < 300, "exceptions are rare: {kinds:?}");
    assert!(recursions > 10);
    assert!(longest_run > 100);
    assert!((8..=60).contains(&deepest), "{deepest}");
    let mut counts: Vec<u32> = calls.values().copied().collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let (top, all): (u32, u32) = (counts[..50].iter().sum(), counts.iter().sum());
    assert!(top * 5 > all * 2, "{top} of {all} calls go to 50 functions");
    assert!(counts.len() > 500, "{}", counts.len());
}

#[test]
fn details_are_as_frequent_as_requested_and_no_stack_is_too_long() {
    let mut synth = synth(Shape::Independent);
    for per_mille in [0, 100, 1000] {
        synth.detail_per_mille = per_mille;
        let mut count = 0;
        let mut payload = Vec::new();
        let mut sizes = BTreeSet::new();
        for registers in synth.thread(0).filter_map(|made| made.detail) {
            registers.write_payload(&mut payload);
            let stack_size = usize::from(u16::from_le_bytes([payload[96], payload[97]]));
            assert_eq!(payload.len(), 100 + stack_size);
            sizes.insert(stack_size);
            count += 1;
        }
        let expected = 30 * per_mille;
        assert!(count >= expected * 9 / 10 && count <= expected * 11 / 10);
        if per_mille > 0 {
            assert_eq!((sizes.first(), sizes.last()), (Some(&0), Some(&256)));
        }
    }
}

#[test]
fn an_interleave_cycles_through_all_threads() {
    let order = order(&synth(Shape::Interleave));
    assert!(order.iter().enumerate().all(|(i, thread)| *thread == i % 7));
}

#[test]
fn runs_are_as_long_as_requested_and_every_thread_has_its_turn() {
    let order = order(&synth(Shape::Runs { min: 10, max: 1000 }));
    let runs: Vec<&[usize]> = order.chunk_by(|a, b| a == b).collect();
    // A thread's last run may be shorter, and adjacent turns of one thread form a single run.
    let short = runs.iter().filter(|run| run.len() < 10).count();
    assert!(short <= 7, "{short}");
    let mean = order.len() / runs.len();
    assert!((350..650).contains(&mean), "{mean}");
}

#[test]
fn only_the_requested_number_of_threads_is_active_at_a_time() {
    let order = order(&Synth {
        threads: 16,
        ..synth(Shape::FewActive(4))
    });
    let active = |window: &[usize]| window.iter().collect::<BTreeSet<_>>().len();
    let most: usize = order.chunks(64).map(active).max().unwrap_or_default();
    let mean = order.chunks(64).map(active).sum::<usize>() / order.chunks(64).len();
    assert!(most <= 8 && (3..=4).contains(&mean), "{most}, {mean}");
    let everyone = order.iter().collect::<BTreeSet<_>>().len();
    assert_eq!(everyone, 16);
}

#[test]
fn the_next_event_comes_from_any_thread() {
    let runs = |shape| order(&synth(shape)).chunk_by(|a, b| a == b).count();
    // With seven threads in random order, six out of seven events come from a different thread than
    // the previous one.
    let random = runs(Shape::Random);
    assert!((175_000..185_000).contains(&random), "{random}");
    let independent = runs(Shape::Independent);
    assert!((50_000..180_000).contains(&independent), "{independent}");
}
