//! Tests that drop one end of a ring before the other.

use atf::manifest::Loss;
use atf::write::{Fate, Memory, Step};
use atf_record::{Lost, RecordOptions};

use crate::segments::{manifest_in, start_on};
use crate::{event, ring};

#[test]
fn without_a_drain_recording_returns_and_counts() {
    let (mut recorder, drain) = ring(2, 0);
    drop(drain);
    assert!(recorder.is_abandoned());
    for n in 0..4 {
        assert_eq!(recorder.record(&event(n)), Err(Lost::Event));
    }
    assert_eq!(recorder.lost_events(), 4);
}

#[test]
fn losses_while_the_last_manifest_is_written_are_included() {
    for is_registered in [true, false] {
        let memory = Memory::new();
        let recording = start_on(&memory, &RecordOptions::default());
        let thread = recording.thread(None).unwrap();
        let counter = if is_registered {
            thread.loss_counter()
        } else {
            recording.loss_counter()
        };
        let mut counters = Some(counter.clone());
        memory.decide(move |step, path| {
            if step == Step::Create && path.ends_with("manifest.json.part") {
                let counter = counters.take();
                counter.iter().for_each(|counter| counter.lose_event(9));
            }
            Fate::Done
        });
        let summary = recording.stop().unwrap();
        // Later losses can no longer be reported.
        counter.lose_event(10);
        assert_eq!(summary.lost_events, 1);
        let manifest = manifest_in(&memory, "pid_42");
        let expected = Some(Loss::new(1, 9, 9));
        let (listed, others) = (manifest.threads[0].lost_events, manifest.lost_events);
        let found = if is_registered {
            [listed, others]
        } else {
            [others, listed]
        };
        assert_eq!(found, [expected, None]);
    }
}
