//! Tests the policies for a full ring.

use std::thread;

use atf::DetailEventType;
use atf::write::Detail;
use atf_record::{Lost, Overflow};

use crate::{drained, event, many, read, ring_with, writer};

const DETAIL: Detail<'_> = Detail::new(DetailEventType::FUNCTION_CALL, &[7; 10]);

#[test]
fn a_blocked_thread_loses_nothing() {
    const EVENTS: u64 = many(50_000);
    let folder = tempfile::tempdir().unwrap();
    let mut writer = writer(folder.path());
    // The ring has room for one payload and three events.
    let (mut recorder, mut drain) = ring_with(3, 10, Overflow::Block);
    let traced = thread::spawn(move || {
        for n in 0..EVENTS {
            let seq = if n % 3 == 0 {
                let link = recorder.record_with_detail(&event(n), &DETAIL);
                link.unwrap().index_seq
            } else {
                recorder.record(&event(n)).unwrap()
            };
            assert_eq!(seq, n);
        }
    });
    while !drain.is_finished() {
        drain.drain_into(&mut writer).unwrap();
    }
    traced.join().unwrap();
    assert_eq!(drain.totals(), drained(EVENTS, EVENTS.div_ceil(3), 0, 0));
    writer.finalize().unwrap();
    let expected: Vec<_> = (0..EVENTS).map(event).collect();
    assert_eq!(read(folder.path()), expected);
}

#[test]
fn no_thread_waits_for_a_payload_larger_than_its_lane() {
    let (mut recorder, _drain) = ring_with(3, 9, Overflow::Block);
    let recorded = recorder.record_with_detail(&event(0), &DETAIL);
    assert_eq!(recorded, Err(Lost::Detail));
    assert_eq!(recorder.record(&event(1)), Ok(1));
}

#[test]
fn a_blocked_thread_continues_when_its_drain_is_gone() {
    let (mut recorder, drain) = ring_with(1, 0, Overflow::Block);
    recorder.record(&event(0)).unwrap();
    let traced = thread::spawn(move || (recorder.record(&event(1)), recorder.lost_events()));
    drop(drain);
    assert_eq!(traced.join().unwrap(), (Err(Lost::Event), 1));
}
