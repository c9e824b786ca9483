//! One end is dropped before the other.

use atf::record::Lost;

use crate::{event, read, ring, writer};

#[test]
fn a_dropped_recorder_leaves_its_events_and_its_losses() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = writer(folder.path());
    let (mut recorder, mut drain) = ring(3, 0);
    drain.drain_into(&mut writer).unwrap();
    for n in 0..5 {
        let _ = recorder.record(&event(n));
    }
    drop(recorder);
    // Not before its events were drained.
    assert!(!drain.is_finished());
    let drained = drain.drain_into(&mut writer).unwrap();
    assert_eq!((drained.events, drained.lost_events), (3, 2));
    assert!(drain.is_finished());
    writer.finalize().unwrap();
    assert_eq!(read(folder.path()), [event(0), event(1), event(2)]);
}

#[test]
fn a_drain_is_not_finished_while_its_recorder_exists() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = writer(folder.path());
    let (recorder, mut drain) = ring(3, 0);
    drain.drain_into(&mut writer).unwrap();
    assert!(!drain.is_finished());
    assert!(!recorder.is_abandoned());
}

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
