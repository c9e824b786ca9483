//! Tests single passes of the drain.

use std::sync::atomic::Ordering;

use atf::index::IndexReader;
use atf::manifest::{Loss, Manifest, Module, Symbol};
use atf::write::{Event, Memory, WriteOptions};
use atf::{Error, ErrorKind, EventKind};

use super::*;
use crate::{Capacity, RecordOptions, ThreadRecorder, Trigger, Window};

fn drainer() -> Result<Drainer> {
    drainer_with(&Memory::new(), Window::default())
}

pub(super) fn drainer_with(memory: &Memory, window: Window) -> Result<Drainer> {
    let (storage, write) = (Arc::new(memory.clone()), WriteOptions::default());
    let session = SessionWriter::create_on(storage, "pid_42", &write)?;
    let options = RecordOptions::default().window(Some(window));
    let shared = Shared::new(Arc::new(session), options);
    Ok(Drainer::new(Arc::new(shared)))
}

pub(super) fn new_thread(drainer: &mut Drainer, thread_id: u32) -> Result<ThreadRecorder> {
    drainer.add_threads(&[thread_id]);
    let live = drainer.shared.lock().live;
    drainer.shared.lock().live = live.saturating_add(1);
    let made = drainer.shared.lock().made.pop_first();
    made.ok_or_else(|| Error::internal("the thread is made"))?.1
}

/// Returns the manifest of the session `pid_42`.
pub(super) fn manifest(memory: &Memory) -> Manifest {
    let bytes = memory.bytes("pid_42/manifest.json");
    Manifest::parse(&bytes.unwrap_or_default())
}

/// Returns the number of events in the file of thread 0.
fn events(memory: &Memory) -> Result<u64> {
    let index = memory.bytes("pid_42/thread_0/index.atf");
    Ok(IndexReader::from_bytes(index.unwrap_or_default())?.event_count())
}

/// Drains once.
pub(super) fn pass(drainer: &mut Drainer) {
    let mut requests = drainer.take_requests();
    drainer.look_at_triggers(&mut requests);
    drainer.drain(&requests);
}

pub(super) fn trigger(drainer: &Drainer) -> Trigger {
    Trigger(Arc::clone(&drainer.shared.triggers))
}

/// Returns how many triggers a pass serves if `meanwhile` runs just after the pass begins.
fn served(drainer: &mut Drainer, meanwhile: impl FnOnce()) -> u64 {
    let mut requests = drainer.take_requests();
    meanwhile();
    drainer.look_at_triggers(&mut requests);
    requests.triggers
}

#[test]
fn the_losses_of_ended_threads_are_added_up() -> Result<()> {
    let memory = Memory::new();
    let mut drainer = drainer_with(&memory, Window::default())?;
    let mut counters = Vec::new();
    for thread_id in 0..5 {
        let counter = new_thread(&mut drainer, thread_id)?.loss_counter();
        counter.lose_event(7);
        // The owner of a loss counter may still add losses.
        counters.extend(Some(counter).filter(|_| thread_id == 4));
    }
    let requests = drainer.take_requests();
    drainer.drain(&requests);
    drainer.store_manifest()?;
    counters.iter().for_each(|counter| counter.lose_event(8));
    drainer.store_manifest()?;
    let kept = drainer.shared.lock().losses.threads.len();
    assert_eq!((kept, drainer.shared.lock().losses.lost), (1, (4, 0)));
    let threads = manifest(&memory).threads;
    let lost: Vec<_> = threads.iter().map(|thread| thread.lost_events).collect();
    let (one, two) = (Some(Loss::new(1, 7, 7)), Some(Loss::new(2, 7, 8)));
    assert_eq!(lost, [one, one, one, one, two]);
    Ok(())
}

#[test]
fn events_after_the_end_of_a_flight_recording_do_not_count_as_lost() -> Result<()> {
    for (lanes, lost) in [(Lanes::Both, 1), (Lanes::Details, 2)] {
        let window = Window::default().lanes(lanes).on_stop(true);
        let mut drainer = drainer_with(&Memory::new(), window)?;
        let mut recorder = new_thread(&mut drainer, 0)?;
        let before = Event::new(now_ns(), 7, EventKind::CALL, 1);
        drainer.shared.lock().is_stopping = true;
        pass(&mut drainer);
        let after = Event::new(now_ns(), 7, EventKind::CALL, 2);
        assert!(recorder.record(&before).is_err() && recorder.record(&after).is_err());
        assert_eq!(drainer.shared.pass_losses(false).0, lost, "{lanes:?}");
    }
    Ok(())
}

#[test]
fn a_ring_that_is_smaller_than_requested_loses_events_that_a_full_ring_would_keep() -> Result<()> {
    for (ring_memory, is_smaller) in [(64 << 10, true), (64 << 20, false)] {
        let memory = Memory::new();
        let window = Window::default().lanes(Lanes::Both).on_stop(true);
        let mut drainer = drainer_with(&memory, window.pre_roll(Duration::MAX))?;
        let shared = Arc::get_mut(&mut drainer.shared);
        let shared = shared.ok_or_else(|| Error::internal("no thread has started"))?;
        shared.options.capacity = Capacity::default().events(4096).payload_size(0);
        shared.options.ring_memory = ring_memory;
        let mut recorder = new_thread(&mut drainer, 0)?;
        for number in 0..5000 {
            let event = Event::new(now_ns(), 7, EventKind::CALL, 1);
            assert!(recorder.record(&event).is_ok());
            if number % 100 == 0 {
                pass(&mut drainer);
            }
        }
        drainer.shared.lock().is_stopping = true;
        pass(&mut drainer);
        let kept = events(&memory)?;
        let lost = drainer.shared.pass_losses(false).0;
        assert_eq!(lost > 0, is_smaller);
        assert_eq!(lost, 2048_u64.saturating_sub(kept));
    }
    Ok(())
}

#[test]
fn released_rings_count_events_that_later_triggers_could_have_requested() -> Result<()> {
    let capacity = Capacity::default().events.saturating_mul(3) / 4;
    for (pre_roll, lost) in [(1 << 40, capacity), (u64::MAX, capacity / 3 * 2), (0, 0)] {
        let window = Window::default().lanes(Lanes::Both);
        let window = window.pre_roll(Duration::from_nanos(pre_roll));
        let mut drainer = drainer_with(&Memory::new(), window)?;
        let mut recorder = new_thread(&mut drainer, 0)?;
        let event = Event::new(now_ns(), 7, EventKind::CALL, 1);
        assert!((0..capacity).all(|_| recorder.record(&event).is_ok()));
        pass(&mut drainer);
        let (ring, windows) = (drainer.rings.first_mut(), drainer.windows.as_ref());
        for (ring, windows) in ring.into_iter().zip(windows) {
            ring.drain.release(&mut ring.output, windows)?;
            let found = ring.drain.event_loss().map_or(0, |loss| loss.count);
            assert_eq!(found, lost as u64, "{pre_roll}");
        }
    }
    Ok(())
}

#[test]
fn a_manifest_without_changes_is_not_written_again() -> Result<()> {
    let memory = Memory::new();
    let mut drainer = drainer_with(&memory, Window::default())?;
    let first = Arc::clone(&drainer.session);
    let next = first.successor("pid_43".into())?;
    first.set_modules(vec![Module::new(3)]);
    first.set_thread_name(0, "main");
    drainer.shared.lock().segment = Some(Arc::new(next));
    drainer.session = drainer.shared.segment();
    drainer.add_threads(&[0]);
    let name = |memory: &Memory| {
        let manifest = memory.bytes("pid_43/manifest.json").unwrap_or_default();
        let thread = Manifest::parse(&manifest).threads.pop();
        thread.and_then(|thread| thread.name)
    };
    assert_eq!(name(&memory).as_deref(), Some("main"));
    let steps = memory.steps();
    drainer.store_manifest()?;
    assert_eq!(memory.steps(), steps);
    first.set_thread_name(0, "renamed");
    drainer.store_manifest()?;
    assert_eq!(name(&memory).as_deref(), Some("renamed"));
    Ok(())
}

#[test]
fn a_trigger_after_the_time_of_a_pass_is_served_by_the_next_one() -> Result<()> {
    let mut drainer = drainer()?;
    let trigger = trigger(&drainer);
    trigger.fire();
    let fire = || assert!(trigger.fire() > 0);
    assert_eq!(served(&mut drainer, fire), 1);
    assert_eq!(served(&mut drainer, || {}), 2);
    Ok(())
}

#[test]
fn a_process_that_waits_for_its_last_trigger_is_not_expected_to_continue() -> Result<()> {
    let mut drainer = drainer()?;
    let requests = drainer.take_requests();
    trigger(&drainer).fire_last();
    for (served, is_ending) in [(0, true), (1, false)] {
        drainer.shared.triggers.serve(served);
        drainer.manifest_interval = Duration::ZERO;
        drainer.manifest_time = drainer
            .manifest_time
            .checked_sub(MANIFEST_INTERVAL)
            .ok_or_else(|| Error::internal("the system runs for a second"))?;
        drainer.write_manifest(&requests);
        assert_eq!(drainer.shared.triggers.is_ending(), is_ending);
    }
    Ok(())
}

#[test]
fn symbols_that_are_too_large_cause_no_lost_events() -> Result<()> {
    let memory = Memory::new();
    let (storage, write) = (Arc::new(memory.clone()), WriteOptions::default());
    let mut session = SessionWriter::create_on(storage, "pid_42", &write)?;
    session.manifest_limit = 1000;
    let shared = Shared::new(Arc::new(session), RecordOptions::default());
    let mut drainer = Drainer::new(Arc::new(shared));
    let symbol = Symbol::new(7, "f".repeat(1000));
    drainer.session.add_symbol(symbol);
    let mut recorder = new_thread(&mut drainer, 0)?;
    let event = Event::new(100, 7, EventKind::CALL, 1);
    assert!(recorder.record(&event).is_ok());
    drop(recorder);
    pass(&mut drainer);
    let error = drainer.shared.finish(None).err();
    let is_too_large = |error: &Error| matches!(error.kind(), ErrorKind::ManifestTooLarge { .. });
    assert!(error.as_ref().is_some_and(is_too_large), "{error:?}");
    assert_eq!(manifest(&memory).threads.len(), 1);
    assert_eq!(events(&memory)?, 1);
    Ok(())
}

#[test]
fn the_thread_that_crashed_is_written_first() -> Result<()> {
    let mut drainer = drainer()?;
    let _recorders = [0, 1, 2].map(|thread_id| new_thread(&mut drainer, thread_id));
    let trigger = trigger(&drainer);
    trigger.put_first(1);
    trigger.fire_last();
    pass(&mut drainer);
    let order: Vec<_> = drainer.rings.iter().map(Ring::thread_id).collect();
    assert_eq!(order, [1, 0, 2]);
    Ok(())
}

#[test]
fn no_trigger_is_served_while_events_are_held_for_another_one() -> Result<()> {
    let mut drainer = drainer()?;
    trigger(&drainer).fire();
    drainer.shared.triggers.begun.fetch_add(1, Ordering::SeqCst);
    assert_eq!(served(&mut drainer, || {}), 0);
    drainer.shared.triggers.begun.fetch_sub(1, Ordering::SeqCst);
    assert_eq!(served(&mut drainer, || {}), 1);
    Ok(())
}
