//! Tests time windows around triggers.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use atf::clock::now_ns;
use atf::index::IndexReader;
use atf::manifest::Loss;
use atf::write::{Detail, Event};
use atf::{DetailEventType, ErrorKind, EventKind};
use atf_record::{Capacity, Lanes, Lost, Overflow, RecordOptions, RecordSummary, Window};

use crate::many;
use crate::recording::{DEADLINE, manifest, start_in_new_folder, start_thread, thread_folder};

const MILLISECOND: Duration = Duration::from_millis(1);

/// Returns options for a ring of `events` events and `payload_size` bytes of payloads, whose drain
/// runs only on request.
pub(crate) fn sleepy(events: usize, payload_size: usize, window: Window) -> RecordOptions {
    let capacity = Capacity::default().events(events);
    let options = RecordOptions::default().capacity(capacity.payload_size(payload_size));
    options.interval(DEADLINE).window(Some(window))
}

/// Returns a time in the distant future, so that the drain makes no decisions based on time.
pub(crate) fn base() -> u64 {
    now_ns() + 3_600_000_000_000
}

pub(crate) fn call(timestamp_ns: u64) -> Event {
    Event::new(timestamp_ns, 7, EventKind::CALL, 1)
}

pub(crate) fn detail(payload: &[u8]) -> Detail<'_> {
    Detail::new(DetailEventType::FUNCTION_CALL, payload)
}

/// Returns the times of a thread's events and whether each has a detail.
pub(crate) fn times(session: &Path, id: u32) -> Vec<(u64, bool)> {
    let reader = IndexReader::open(thread_folder(session, id).join("index.atf")).unwrap();
    let events = reader.events_in(..).map(|event| {
        let event = event.unwrap();
        (event.timestamp_ns, event.detail_seq.is_some())
    });
    events.collect()
}

fn losses(summary: &RecordSummary) -> (u64, u64) {
    (summary.lost_events, summary.lost_details)
}

#[test]
fn only_the_details_around_a_trigger_of_a_busy_program_are_kept() {
    const EVENTS: u64 = many(150_000);
    let window = Window::default()
        .pre_roll(100 * MILLISECOND)
        .post_roll(50 * MILLISECOND);
    // The events fill less than half of a ring, so none are discarded early, even on a slow
    // machine.
    let capacity = Capacity::default().events(1 << 19).payload_size(1 << 24);
    let options = RecordOptions::default()
        .capacity(capacity)
        .window(Some(window));
    let (folder, recording) = start_in_new_folder(false, &options);
    let (send, receive) = mpsc::channel();
    let work = || {
        let mut thread = recording.thread(None).unwrap();
        let mut times = Vec::new();
        let mut next = now_ns();
        while (times.len() as u64) < EVENTS {
            while now_ns() < next {}
            let now = now_ns();
            next = now + 2_000;
            if times.len() as u64 == EVENTS / 2 {
                send.send(()).unwrap();
            }
            times.push(now);
            thread
                .record_with_detail(&call(now), &detail(&now.to_le_bytes()))
                .unwrap();
        }
        (thread.thread_id(), times)
    };
    let (times_of, triggered) = thread::scope(|scope| {
        let threads = [scope.spawn(work), scope.spawn(work)];
        receive.recv().unwrap();
        let triggered = recording.trigger();
        let times: BTreeMap<_, _> = threads.map(|thread| thread.join().unwrap()).into();
        (times, triggered)
    });
    let summary = recording.stop().unwrap();
    assert_eq!(losses(&summary), (0, 0));
    assert_eq!(summary.totals.event_count, 2 * EVENTS);
    let asked_for = triggered - 100_000_000..=triggered + 50_000_000;
    let mut details = 0;
    for (id, recorded) in times_of {
        let expected = recorded.iter().map(|it| (*it, asked_for.contains(it)));
        let expected: Vec<_> = expected.collect();
        details += expected.iter().filter(|(_, is)| *is).count() as u64;
        assert_eq!(times(folder.path(), id), expected);
    }
    assert_eq!(summary.totals.detail_count, details);
    assert!(details > 0);
}

#[test]
fn a_flight_recorder_writes_the_last_seconds_when_it_is_stopped() {
    let window = Window::default().lanes(Lanes::Both).on_stop(true);
    let window = window.pre_roll(Duration::from_secs(30));
    let (folder, recording, mut thread) = start_thread(&sleepy(1000, 0, window));
    let now = now_ns();
    let minute = 60_000_000_000;
    let past = (1..=15)
        .rev()
        .filter_map(|minutes| now.checked_sub(minutes * minute));
    let last: Vec<_> = (now - 9..=now).collect();
    for time in past.chain(last.iter().copied()) {
        thread.record(&call(time)).unwrap();
    }
    recording.flush(DEADLINE).unwrap();
    // A trigger can still request the events of a thread that has ended.
    drop(thread);
    recording.flush(DEADLINE).unwrap();
    let summary = recording.stop().unwrap();
    assert_eq!(losses(&summary), (0, 0));
    let expected: Vec<_> = last.iter().map(|time| (*time, false)).collect();
    assert_eq!(times(folder.path(), 0), expected);
}

#[test]
fn only_discarded_events_just_before_the_trigger_count_as_lost() {
    const HOUR: u64 = 3_600_000_000_000;
    // Test a window of fixed length, and a window that covers everything in the ring.
    for (pre_roll, lost) in [(DEADLINE, 96), (Duration::MAX, 0)] {
        let window = Window::default().lanes(Lanes::Both).pre_roll(pre_roll);
        let (folder, recording, mut thread) = start_thread(&sleepy(8, 0, window));
        let now = now_ns();
        let long_ago = now.saturating_sub(HOUR).min(now / 2);
        for base in [long_ago, now] {
            for n in 0..100 {
                thread.record(&call(base + n)).unwrap();
                if n % 4 == 3 {
                    recording.flush(DEADLINE).unwrap();
                }
            }
        }
        let triggered = recording.trigger();
        // Otherwise, this took longer than the window.
        assert!(triggered < now + 60_000_000_000);
        let summary = recording.stop().unwrap();
        assert_eq!(losses(&summary), (lost, 0));
        let listed = manifest(folder.path()).threads[0].lost_events;
        assert_eq!(listed, (lost > 0).then(|| Loss::new(96, now, now + 95)));
        let kept: Vec<_> = (96..100).map(|n| (now + n, false)).collect();
        assert_eq!(times(folder.path(), 0), kept);
    }
}

#[test]
fn a_thread_never_waits_for_room_that_a_held_payload_needs() {
    const EVENT: Option<usize> = None;
    type Case<'a> = (usize, usize, &'a [Option<usize>], &'a [bool]);
    let cases: &[Case<'_>] = &[
        // The drain frees half of the ring. A payload larger than that is recorded only if there is
        // room for it right away.
        (
            8,
            1000,
            &[Some(400), Some(700), Some(500)],
            &[true, false, true],
        ),
        (8, 1000, &[Some(700)], &[true]),
        (8, 3, &[Some(1), Some(3), Some(2)], &[true, false, true]),
        (8, 1, &[Some(1), Some(1)], &[true, true]),
        (1, 10, &[EVENT, EVENT, Some(5), Some(5)], &[true; 4]),
        // A waiting detail reserves space for its payload, and a slot for its event in the index
        // lane.
        (1, 10, &[Some(5), Some(8)], &[true, true]),
    ];
    for (events, payload_size, payloads, expected) in cases {
        let window = Window::default().pre_roll(DEADLINE);
        let options = sleepy(*events, *payload_size, window)
            .interval(MILLISECOND)
            .overflow(Overflow::Block);
        let (folder, recording, mut thread) = start_thread(&options);
        let (send, receive) = mpsc::channel();
        let (recorded, stopped) = thread::scope(|scope| {
            scope.spawn(move || {
                let base = base();
                for (time, payload) in (base..).zip(*payloads) {
                    let recorded = match payload {
                        None => thread.record(&call(time)).map(drop),
                        Some(size) => thread
                            .record_with_detail(&call(time), &detail(&vec![1; *size]))
                            .map(drop),
                    };
                    send.send(recorded).unwrap();
                }
            });
            let received = payloads.iter().map(|_| receive.recv_timeout(DEADLINE));
            let recorded: Result<Vec<_>, _> = received.collect();
            (recorded, recording.stop())
        });
        let expected: Vec<_> = expected
            .iter()
            .map(|is| if *is { Ok(()) } else { Err(Lost::Detail) })
            .collect();
        assert_eq!(recorded, Ok(expected));
        // No trigger requested any details.
        assert_eq!(losses(&stopped.unwrap()), (0, 0));
        assert_eq!(times(folder.path(), 0).len(), payloads.len());
    }
}

#[test]
fn an_open_window_keeps_events_until_it_is_closed() {
    let window = Window::default().pre_roll(DEADLINE).post_roll(DEADLINE);
    let (folder, recording, mut thread) = start_thread(&sleepy(64, 1000, window));
    let mut expected = Vec::new();
    for is_open in [false, true, true, false, false, true] {
        recording.set_window_open(is_open).unwrap();
        for _ in 0..3 {
            thread::sleep(Duration::from_micros(1));
            let now = now_ns();
            thread.record_with_detail(&call(now), &detail(&[])).unwrap();
            thread::sleep(Duration::from_micros(1));
            expected.push((now, is_open));
        }
        recording.flush(DEADLINE).unwrap();
    }
    let summary = recording.stop().unwrap();
    assert_eq!(losses(&summary), (0, 0));
    assert_eq!(times(folder.path(), 0), expected);
    let refused = recording.set_window_open(true).unwrap_err();
    assert_eq!(*refused.kind(), ErrorKind::AlreadyFinalized);
}

#[test]
fn no_trigger_is_lost_if_there_are_more_than_the_drain_distinguishes() {
    let (folder, recording, mut thread) = start_thread(&sleepy(2048, 1000, Window::default()));
    let base = base();
    for n in 0..1000 {
        thread
            .record_with_detail(&call(base + n), &detail(&[]))
            .unwrap();
    }
    thread::scope(|scope| {
        for first in 0..4 {
            let recording = &recording;
            let fire = move || (100..200).for_each(|n| recording.trigger_at(base + 4 * n + first));
            scope.spawn(fire);
        }
    });
    recording.stop().unwrap();
    let expected: Vec<_> = (0..1000)
        .map(|n| (base + n, (400..800).contains(&n)))
        .collect();
    assert_eq!(times(folder.path(), 0), expected);
}

#[test]
fn nothing_is_discarded_while_a_trigger_reads_its_clock() {
    let (folder, recording, mut thread) = start_thread(&sleepy(64, 64, Window::default()));
    let read_clock = || {
        let now = now_ns();
        let recorded = thread.record_with_detail(&call(now), &detail(b"x"));
        recorded.unwrap();
        // The drain finds an event that is older than this pass, but no trigger yet.
        recording.flush(DEADLINE).unwrap();
        now
    };
    let now = recording.trigger_handle().fire_with(read_clock);
    assert_eq!(losses(&recording.stop().unwrap()), (0, 0));
    assert_eq!(times(folder.path(), 0), [(now, true)]);
}

#[test]
fn a_trigger_s_events_are_in_the_files_after_waiting_for_it() {
    let window = Window::default().lanes(Lanes::Both).pre_roll(DEADLINE);
    // Without a window, a trigger requests all events.
    for window in [Some(window), None] {
        let options = RecordOptions::default().window(window);
        let (folder, recording, mut thread) = start_thread(&options);
        for round in 1..=5 {
            thread.record(&call(now_ns())).unwrap();
            recording.trigger();
            assert!(recording.wait_for_triggers(DEADLINE));
            assert_eq!(times(folder.path(), 0).len(), round);
        }
        recording.stop().unwrap();
        // Nothing is written after the stop, so waiting returns immediately.
        recording.trigger();
        assert!(recording.wait_for_triggers(DEADLINE));
    }
}

#[test]
fn ended_threads_keep_their_last_events_even_if_more_than_max_threads_have_recorded() {
    let window = Window::default().lanes(Lanes::Both).on_stop(true);
    let window = window.pre_roll(Duration::MAX);
    // Each ring uses 160 MiB, so 15 of them would not fit into 512 MiB.
    let options = sleepy(5 << 20, 16, window).max_threads(2);
    let (folder, recording, mut living) = start_thread(&options);
    living.record_with_detail(&call(1), &detail(b"x")).unwrap();
    for id in 1..16 {
        let mut thread = recording.thread(None).unwrap();
        assert_eq!(thread.thread_id(), id);
        thread.record_with_detail(&call(1), &detail(b"x")).unwrap();
        let refused = recording.thread(None).unwrap_err();
        assert_eq!(*refused.kind(), ErrorKind::LimitReached { limit: 2 });
        drop(thread);
        assert!(recording.flush(DEADLINE).unwrap());
        assert!(!thread_folder(folder.path(), id).exists());
    }
    let summary = recording.stop().unwrap();
    assert_eq!(losses(&summary), (0, 0));
    for id in 0..16 {
        assert_eq!(times(folder.path(), id), [(1, true)], "{id}");
    }
}

#[test]
fn a_thread_that_ended_before_its_events_were_requested_leaves_no_files() {
    let window = Window::default().lanes(Lanes::Both);
    let (folder, recording) = start_in_new_folder(false, &sleepy(8, 0, window));
    for n in 0..2 {
        let mut thread = recording.thread(None).unwrap();
        thread.record(&call(now_ns())).unwrap();
        drop(thread);
        if n == 1 {
            recording.set_window_open(true).unwrap();
            let mut thread = recording.thread(None).unwrap();
            thread.record(&call(now_ns())).unwrap();
        }
        assert!(recording.flush(DEADLINE).unwrap());
    }
    let summary = recording.stop().unwrap();
    assert_eq!((losses(&summary), summary.totals.event_count), ((0, 0), 1));
    let listed = manifest(folder.path()).threads;
    let ids: Vec<_> = listed.iter().map(|thread| thread.id).collect();
    assert_eq!(ids, [2]);
    assert!(!thread_folder(folder.path(), 0).exists());
}

/// Waits until the manifest has `unwritten_events`, and returns them.
fn unwritten(session: &Path) -> Option<u64> {
    let start = Instant::now();
    loop {
        let found = manifest(session).unwritten_events;
        if found.is_some() || start.elapsed() > DEADLINE {
            return found;
        }
        thread::sleep(10 * MILLISECOND);
    }
}

#[test]
fn a_last_trigger_that_was_served_leaves_nothing_unwritten_unless_the_process_keeps_running() {
    let window = Window::default().lanes(Lanes::Both).pre_roll(DEADLINE);
    let options = sleepy(8, 0, window).interval(MILLISECOND);
    let (folder, recording, mut thread) = start_thread(&options);
    let trigger = recording.trigger_handle();
    thread.record(&call(now_ns())).unwrap();
    // An ordinary trigger does not mean that the process will end, so events are still reported as
    // unwritten.
    trigger.fire();
    assert!(trigger.wait(DEADLINE));
    recording.write_manifest().unwrap();
    let expected = manifest(folder.path()).unwritten_events;
    assert!(expected > Some(8));
    // In the second iteration, the drain has already concluded that the process keeps running.
    for round in 2..=3 {
        thread.record(&call(now_ns())).unwrap();
        let fired = Instant::now();
        trigger.fire_last();
        assert!(trigger.wait(DEADLINE));
        let left = manifest(folder.path()).unwritten_events;
        // On a slow machine, the drain may already have noticed that the process keeps running.
        assert!(left.is_none() || fired.elapsed() >= Duration::from_secs(1));
        assert_eq!(times(folder.path(), 0).len(), round);
        assert_eq!(unwritten(folder.path()), expected);
    }
    recording.stop().unwrap();
}

#[test]
fn a_last_trigger_reports_its_losses() {
    let window = Window::default().lanes(Lanes::Both).pre_roll(DEADLINE);
    let (folder, recording, mut thread) = start_thread(&sleepy(8, 0, window));
    let first = now_ns();
    for n in 0..8 {
        thread.record(&call(first + n)).unwrap();
    }
    recording.flush(DEADLINE).unwrap();
    let trigger = recording.trigger_handle();
    trigger.fire_last();
    recording.flush(DEADLINE).unwrap();
    assert!(trigger.wait(DEADLINE));
    let manifest = manifest(folder.path());
    assert_eq!(manifest.unwritten_events, None);
    let lost = manifest.threads[0].lost_events;
    assert_eq!(lost, Some(Loss::new(4, first, first + 3)));
    recording.stop().unwrap();
}

#[test]
fn a_last_trigger_that_requests_later_events_leaves_them_unwritten() {
    let both = Window::default().lanes(Lanes::Both);
    let windows = [
        Some(both.post_roll(DEADLINE)),
        Some(Window::default()),
        None,
    ];
    for window in windows {
        let options = RecordOptions::default().window(window);
        let (folder, recording) = start_in_new_folder(false, &options);
        let trigger = recording.trigger_handle();
        trigger.fire_last();
        assert!(trigger.wait(DEADLINE));
        recording.write_manifest().unwrap();
        assert!(manifest(folder.path()).unwritten_events.is_some());
        recording.stop().unwrap();
    }
}
