//! Tests which events are drained, in which order, and how many are lost, with each policy.

use std::thread;

use atf::DetailEventType;
use atf::write::Detail;
use atf_record::{Capacity, Lost, Overflow, channel};

use crate::{drained, event, finalized, many, ring, ring_with, writer};

const DETAIL: Detail<'_> = Detail::new(DetailEventType::FUNCTION_CALL, &[7; 10]);

#[test]
fn a_ring_holds_more_than_is_taken_at_once() {
    let (_folder, mut writer) = writer();
    let (mut recorder, mut drain) = ring(5_000, 0);
    for n in 0..7_000 {
        assert_eq!(recorder.record(&event(n)).is_ok(), n < 5_000);
    }
    assert_eq!(drain.drain_into(&mut writer).unwrap().events, 5_000);
    let nothing = drain.drain_into(&mut writer).unwrap();
    assert_eq!(nothing, drained(0, 0, 0, 0));
    let expected: Vec<_> = (0..5_000).map(event).collect();
    assert_eq!(finalized(writer), expected);
}

#[test]
fn an_event_that_does_not_fit_is_counted_once_and_later_ones_are_recorded() {
    let (_folder, mut writer) = writer();
    let (mut recorder, mut drain) = ring(4, 0);
    for n in 0..10 {
        let recorded = recorder.record(&event(n));
        assert_eq!(recorded, if n < 4 { Ok(n) } else { Err(Lost::Event) });
    }
    assert_eq!(recorder.lost_events(), 6);
    let drained = |events, lost| drained(events, 0, lost, 0);
    assert_eq!(drain.drain_into(&mut writer).unwrap(), drained(4, 6));
    assert_eq!(drain.drain_into(&mut writer).unwrap(), drained(0, 0));
    for n in 10..15 {
        assert_eq!(recorder.record(&event(n)).is_ok(), n < 14);
    }
    assert_eq!(drain.drain_into(&mut writer).unwrap(), drained(4, 1));
    assert_eq!(drain.totals(), drained(8, 7));
    let expected: Vec<_> = (0..4).chain(10..14).map(event).collect();
    assert_eq!(finalized(writer), expected);
}

#[test]
fn between_two_threads_each_event_is_written_once_or_counted_once() {
    // The small ring may lose events if its drain is slow. The large ring loses no events.
    for (capacity, events) in [(16, many(300_000)), (1 << 17, many(100_000))] {
        let (_folder, mut writer) = writer();
        let (mut recorder, mut drain) = ring(capacity, 0);
        let traced = thread::spawn(move || {
            let kept = (0..events).filter(|n| recorder.record(&event(*n)).is_ok());
            let kept: Vec<_> = kept.map(event).collect();
            assert_eq!(recorder.lost_events(), events - kept.len() as u64);
            kept
        });
        let mut sum = 0;
        while !drain.is_finished() {
            sum += drain.drain_into(&mut writer).unwrap().events;
        }
        let kept = traced.join().unwrap();
        let totals = drain.totals();
        assert_eq!(totals.events, sum);
        assert_eq!(totals.events + totals.lost_events, events);
        assert!(totals.lost_events == 0 || capacity == 16);
        assert!(finalized(writer) == kept);
    }
}

#[test]
fn a_ring_has_at_least_one_slot_and_a_maximum_size() {
    for (events, payload_size, refused) in [
        (0, 0, "events: 0, expected 1 to 33554432"),
        (33_554_433, 0, "events: 33554433, expected 1 to 33554432"),
        (
            1,
            1_073_741_825,
            "payload_size: 1073741825, expected 0 to 1073741824",
        ),
    ] {
        let capacity = Capacity::default().events(events);
        let made = channel(capacity.payload_size(payload_size), Overflow::default());
        assert_eq!(made.unwrap_err().to_string(), refused);
    }
}

#[test]
fn a_blocked_thread_loses_nothing() {
    const EVENTS: u64 = many(50_000);
    let (_folder, mut writer) = writer();
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
    let expected: Vec<_> = (0..EVENTS).map(event).collect();
    assert_eq!(finalized(writer), expected);
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
