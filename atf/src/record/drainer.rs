//! The thread that drains the rings of a recording.

mod register;

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::segments::Segments;
use super::shared::{Shared, State};
use super::thread::Direct;
use super::trigger::Calls;
use super::window::Windows;
use super::{Drain, Lanes};
use crate::clock::now_ns;
use crate::error::Result;
use crate::write::{SessionWriter, ThreadWriter};

/// How often the manifest is written while it changes.
const MANIFEST_INTERVAL: Duration = Duration::from_secs(1);

/// The pause between two writes of the manifest, as a multiple of how long the last one took: with
/// very many threads, the manifest is large.
const MANIFEST_REST: u32 = 50;

/// The most memory for rings whose threads have ended, in bytes. A single ring may have more.
const MOST_ENDED: usize = 512 << 20;

/// Drains all rings into the threads' files, and keeps the manifest up to date.
#[derive(Debug)]
pub(super) struct Drainer {
    shared: Arc<Shared>,
    /// The session that is being written.
    session: Arc<SessionWriter>,
    segments: Option<Segments>,
    rings: Vec<Ring>,
    windows: Option<Windows>,
    calls: Calls,
    /// When the manifest was last written, and how long to wait before the next write.
    manifest_time: Instant,
    manifest_interval: Duration,
    /// The manifest's size in bytes, and whether the last attempt to write it succeeded.
    manifest_size: usize,
    is_manifest_stored: bool,
}

/// A ring with the writer that it is drained into.
#[derive(Debug)]
struct Ring {
    thread_id: u32,
    drain: Drain,
    writer: ThreadWriter,
    /// When the drain noticed that the thread had ended.
    ended_ns: Option<u64>,
}

/// A segment that was created, with a writer for each ring.
struct NextSegment {
    session: Arc<SessionWriter>,
    manifest_size: usize,
    writers: Vec<ThreadWriter>,
}

/// The work of one pass, apart from draining.
struct Requests {
    /// Threads to create, and threads without a ring that have ended.
    wanted: Vec<u32>,
    ended: Vec<Arc<Direct>>,
    /// How many manifests and flushes were requested so far.
    manifests: u64,
    flushes: u64,
    is_manifest: bool,
    is_flush: bool,
    is_last: bool,
    /// When the pass began. `opened` and `closed` have every window opened before then.
    now_ns: u64,
    opened: Option<u64>,
    closed: Vec<(u64, u64)>,
    /// How many triggers it serves.
    triggers: u64,
}

impl Drainer {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self {
            session: Arc::clone(&shared.session),
            segments: shared
                .options
                .segment
                .map(|options| Segments::new(options, &shared.session)),
            rings: Vec::new(),
            windows: shared.options.window.map(Windows::new),
            calls: Calls::default(),
            shared,
            manifest_time: Instant::now(),
            manifest_interval: MANIFEST_INTERVAL,
            manifest_size: 0,
            is_manifest_stored: true,
        }
    }

    /// Drains until the recording stops.
    pub(super) fn run(mut self) {
        loop {
            let mut requests = self.take_requests();
            self.look_at_triggers(&mut requests);
            for direct in &requests.ended {
                self.shared.close_direct(direct);
            }
            if !requests.wanted.is_empty() {
                self.add_threads(&requests.wanted);
            }
            let is_behind = self.drain(&requests);
            self.prepare_end(&requests);
            let served = if requests.is_last {
                u64::MAX
            } else {
                requests.triggers
            };
            self.shared.triggers.serve(served);
            if let Some(clock) = self.shared.clock.get() {
                clock.adjust();
            }
            self.write_manifest(&requests);
            if requests.is_last {
                if let Some(error) = self.segments.as_mut().and_then(Segments::take_error) {
                    self.shared.fail(error);
                }
            } else if !self.shared.triggers.is_ending() {
                self.change_segment();
            }
            let mut state = self.shared.lock();
            state.flushed = requests.flushes;
            state.manifests_written = requests.manifests;
            if requests.is_flush || requests.is_manifest {
                self.shared.changed.notify_all();
            }
            if requests.is_last {
                return;
            }
            if !is_behind {
                let interval = self.shared.options.interval;
                // Woken or timed out, the drain checks the rings.
                let changed = &self.shared.changed;
                let _ = changed.wait_timeout_while(state, interval, State::is_idle);
            }
        }
    }

    fn take_requests(&self) -> Requests {
        // Read before the pass's time: these triggers ask only for earlier events, and none of
        // those are held.
        let fired = self.shared.triggers.fired();
        Requests::take(&mut self.shared.lock(), fired)
    }

    /// Brings the windows up to date, before any event is judged.
    fn look_at_triggers(&mut self, requests: &mut Requests) {
        let triggers = &self.shared.triggers;
        if let Some(windows) = &mut self.windows {
            windows.begin();
            for (start, end) in &requests.closed {
                windows.add(*start, *end);
            }
            windows.set_open(requests.opened);
            // A trigger that begins after this asks for nothing before this pass's time.
            let is_busy = self.calls.are_busy(triggers.begun(), Instant::now());
            triggers.take(|first, last| windows.trigger(first, last));
            match (requests.is_last, is_busy) {
                (true, _) => windows.decide_all(requests.now_ns),
                (false, false) => windows.decide_at(requests.now_ns),
                // A trigger may ask for held events.
                (false, true) => requests.triggers = triggers.served(),
            }
        }
        requests.is_flush |= requests.triggers > triggers.served();
    }

    /// Drains each ring once, closes finished rings, and returns whether the next pass should
    /// follow at once.
    fn drain(&mut self, requests: &Requests) -> bool {
        let mut is_behind = false;
        let (shared, windows) = (&self.shared, self.windows.as_ref());
        let segments = &mut self.segments;
        self.rings
            .retain_mut(|ring| match ring.step(requests, windows) {
                Ok(is_ring_behind) if !requests.is_last && !ring.drain.is_finished() => {
                    is_behind |= is_ring_behind;
                    true
                }
                outcome => {
                    ring.close(shared, outcome.map(drop));
                    if let Some(segments) = segments {
                        segments.end_thread(&ring.writer);
                    }
                    false
                }
            });
        if !requests.is_last {
            self.release_ended();
        }
        is_behind
    }

    /// Closes rings that wait for triggers after their threads have ended, if there are too many: a
    /// program may start a thread for each piece of work.
    fn release_ended(&mut self) {
        if let Some(windows) = &self.windows {
            let ended = |ring: &Ring| Some((ring.ended_ns?, ring.thread_id));
            let mut all: Vec<_> = self.rings.iter().filter_map(ended).collect();
            all.sort_unstable();
            let size = self.rings.first().map_or(1, |ring| ring.drain.size());
            let most = MOST_ENDED.checked_div(size).map_or(1, |most| most.max(1));
            all.truncate(all.len().saturating_sub(most));
            for (_, thread_id) in all {
                let place = self
                    .rings
                    .iter()
                    .position(|ring| ring.thread_id == thread_id);
                let Some(mut ring) = place.map(|place| self.rings.remove(place)) else {
                    continue;
                };
                let released = ring.drain.release(&mut ring.writer, windows);
                ring.close(&self.shared, released);
                if let Some(segments) = &mut self.segments {
                    segments.end_thread(&ring.writer);
                }
            }
        }
    }

    /// Begins the next segment if this one is over. If the next one cannot be created, this one
    /// continues.
    fn change_segment(&mut self) {
        if let Some(mut segments) = self.segments.take() {
            let writers = self.rings.iter().map(|ring| &ring.writer);
            let is_over = segments.is_over(writers, self.shared.options.capacity.events);
            if is_over && !segments.must_wait() {
                match self.create_segment(&mut segments) {
                    Ok(next) => self.begin_segment(&mut segments, next),
                    Err(error) => segments.fail(error),
                }
            }
            self.segments = Some(segments);
        }
    }

    /// Creates the next segment with a writer for each ring. On failure, nothing of it remains.
    fn create_segment(&self, segments: &mut Segments) -> Result<NextSegment> {
        let session = segments.create(&self.session)?;
        session.take_over(&self.shared.session);
        let threads = self.rings.iter().map(|ring| ring.thread_id);
        session.take_names(&self.shared.session, threads.clone());
        let options = &self.shared.options;
        session.set_unwritten_events(options.unwritten_events(session.options()));
        let writers = threads.clone().map(|thread_id| session.thread(thread_id));
        // The manifest lists all the threads. If it cannot be written, their writers are dropped
        // here.
        let created = writers.collect::<Result<_>>().and_then(|writers| {
            let manifest_size = session.store_manifest()?;
            Ok((manifest_size, writers))
        });
        match created {
            Ok((manifest_size, writers)) => Ok(NextSegment {
                session: Arc::new(session),
                manifest_size,
                writers,
            }),
            Err(error) => {
                // Return the first error.
                let _ = session.files_of(threads.collect()).delete();
                Err(error)
            }
        }
    }

    /// Finalizes the current segment and begins the next one, even if the current one's files
    /// cannot be finalized.
    fn begin_segment(&mut self, segments: &mut Segments, next: NextSegment) {
        let mut finalized = Ok(());
        for (ring, writer) in self.rings.iter_mut().zip(next.writers) {
            finalized = finalized.and(ring.writer.finalize().map(drop));
            ring.writer = writer;
        }
        self.shared.tell(true);
        // Copy the thread names set meanwhile.
        let threads = self.rings.iter().map(|ring| ring.thread_id);
        next.session.take_names(&self.shared.session, threads);
        if finalized.is_ok() {
            // Events still in the rings go to the next segment.
            self.session.set_unwritten_events(None);
        }
        let ended = std::mem::replace(&mut self.session, Arc::clone(&next.session));
        self.manifest_size = next.manifest_size;
        let finished = ended.finalize();
        let totals = ended.totals();
        let deleted = segments.end(&ended, &totals);
        {
            let mut state = self.shared.lock();
            state.segment = Some(next.session);
            state.over = Some((segments.totals(), segments.count()));
            if finished.is_err() {
                state.unfinished.push(ended);
            }
        }
        // The recording continues, even if an old segment could not be deleted.
        if let Err(error) = finalized.and(finished.map(drop)).and(deleted) {
            self.shared.fail(error);
        }
    }

    /// Updates the manifest before the threads that wait for triggers continue, if the process may
    /// end then and everything that the triggers ask for has been passed to the system.
    fn prepare_end(&mut self, requests: &Requests) {
        let triggers = &self.shared.triggers;
        let is_asked = triggers.is_ending() && requests.triggers > triggers.served();
        // Without such windows, every later event is recorded.
        let is_over = self.windows.as_ref().is_some_and(|windows| {
            windows.lanes() == Lanes::Both && !windows.ask_for_later(now_ns())
        });
        if is_asked && is_over && self.shared.lock().error.is_none() {
            self.session.set_unwritten_events(None);
            // Its error is reported at the end.
            let _ = self.store_manifest();
        }
    }

    /// Writes the manifest if requested, or if it has not been written for a while.
    fn write_manifest(&mut self, requests: &Requests) {
        let is_ending = self.shared.triggers.is_ending();
        let interval = if is_ending {
            MANIFEST_INTERVAL
        } else {
            self.manifest_interval
        };
        let is_due = self.manifest_time.elapsed() >= interval && !requests.is_last;
        let triggers = &self.shared.triggers;
        // A process that waits for a trigger is not assumed to live on.
        let is_waiting = triggers.fired() > triggers.served();
        if is_due && !is_waiting && triggers.live_on() {
            let unwritten = self.shared.options.unwritten_events(self.session.options());
            self.session.set_unwritten_events(unwritten);
        }
        if requests.is_manifest || is_due {
            // Its error is reported at the end.
            let _ = self.store_manifest();
        }
    }

    fn store_manifest(&mut self) -> Result<()> {
        let start = Instant::now();
        self.shared.tell(false);
        let stored = self.session.store_manifest();
        self.manifest_time = Instant::now();
        let took = start.elapsed().saturating_mul(MANIFEST_REST);
        self.manifest_interval = MANIFEST_INTERVAL.max(took);
        self.is_manifest_stored = stored.is_ok();
        self.manifest_size = stored.inspect_err(|error| self.shared.fail(error.clone()))?;
        Ok(())
    }
}

impl Requests {
    fn take(state: &mut State, triggers: u64) -> Self {
        Self {
            wanted: std::mem::take(&mut state.wanted),
            ended: std::mem::take(&mut state.ended),
            manifests: state.manifests_wanted,
            flushes: state.requested,
            is_manifest: state.manifests_wanted > state.manifests_written,
            is_flush: state.requested > state.flushed,
            is_last: state.is_stopping,
            now_ns: now_ns(),
            opened: state.opened,
            closed: std::mem::take(&mut state.closed),
            triggers,
        }
    }
}

impl Ring {
    /// Drains the ring once, and returns whether there may be much more to drain.
    fn step(&mut self, requests: &Requests, windows: Option<&Windows>) -> Result<bool> {
        if requests.is_last {
            self.drain.close();
        }
        if self.ended_ns.is_none() && self.drain.is_abandoned() {
            self.ended_ns = Some(requests.now_ns);
        }
        let drained = self.drain.drain_windows(&mut self.writer, windows)?;
        if requests.is_flush {
            self.writer.flush()?;
        }
        // A ring with windows is never empty.
        Ok(match windows {
            None => drained.events > 0,
            Some(_) => self.drain.is_crowded(),
        })
    }

    /// Finalizes the thread's files. Events left in the ring and those recorded later are lost.
    fn close(&mut self, shared: &Shared, outcome: Result<()>) {
        if let Err(error) = outcome.and_then(|()| self.writer.finalize().map(drop)) {
            shared.fail(error);
        }
        // After the files, so that it counts what was recorded meanwhile.
        self.drain.give_up();
        let mut state = shared.lock();
        state.live = state.live.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;
    use crate::error::Error;
    use crate::manifest::{Loss, Manifest, Module};
    use crate::record::{Capacity, RecordOptions, Trigger, Window};
    use crate::wire::EventKind;
    use crate::write::{Event, Memory, WriteOptions};

    fn drainer() -> Result<Drainer> {
        drainer_on(&Memory::new())
    }

    fn drainer_on(memory: &Memory) -> Result<Drainer> {
        drainer_with(memory, Window::default())
    }

    fn drainer_with(memory: &Memory, window: Window) -> Result<Drainer> {
        let (storage, write) = (Arc::new(memory.clone()), WriteOptions::default());
        let session = SessionWriter::create_on(storage, "pid_42", &write)?;
        let options = RecordOptions::default().window(Some(window));
        let shared = Shared::new(Arc::new(session), options);
        Ok(Drainer::new(Arc::new(shared)))
    }

    /// Returns how many triggers a pass serves if `meanwhile` runs after it began.
    fn served(drainer: &mut Drainer, meanwhile: impl FnOnce(&Shared)) -> u64 {
        let mut requests = drainer.take_requests();
        meanwhile(&drainer.shared);
        drainer.look_at_triggers(&mut requests);
        requests.triggers
    }

    #[test]
    fn of_threads_that_have_ended_the_sums_of_their_losses_are_kept() -> Result<()> {
        let memory = Memory::new();
        let mut drainer = drainer_on(&memory)?;
        let mut counters = Vec::new();
        for thread_id in 0..5 {
            drainer.add_threads(&[thread_id]);
            let made = drainer.shared.lock().made.pop();
            let recorder = made.map(|(_, made)| made).transpose()?;
            let counter = recorder.map(|recorder| recorder.loss_counter());
            counter.iter().for_each(|counter| counter.lose_event(7));
            // A loss counter's owner may count more.
            counters.extend(counter.filter(|_| thread_id == 4));
        }
        let requests = drainer.take_requests();
        drainer.drain(&requests);
        drainer.store_manifest()?;
        counters.iter().for_each(|counter| counter.lose_event(8));
        drainer.store_manifest()?;
        let kept = drainer.shared.lock().losses.len();
        assert_eq!((kept, drainer.shared.lock().lost), (1, (4, 0)));
        let manifest = memory.bytes("pid_42/manifest.json").unwrap_or_default();
        let threads = Manifest::parse(&manifest).threads;
        let lost: Vec<_> = threads.iter().map(|thread| thread.lost_events).collect();
        let (one, two) = (Some(Loss::new(1, 7, 7)), Some(Loss::new(2, 7, 8)));
        assert_eq!(lost, [one, one, one, one, two]);
        Ok(())
    }

    #[test]
    fn a_ring_that_is_given_away_counts_what_later_triggers_might_have_asked_for() -> Result<()> {
        let capacity = Capacity::default().events.saturating_mul(3) / 4;
        for (pre_roll, lost) in [(1 << 40, capacity), (u64::MAX, capacity / 3 * 2), (0, 0)] {
            let window = Window::default().lanes(Lanes::Both);
            let window = window.pre_roll(Duration::from_nanos(pre_roll));
            let mut drainer = drainer_with(&Memory::new(), window)?;
            drainer.add_threads(&[0]);
            let made = drainer.shared.lock().made.pop();
            let mut recorder = made.map(|(_, made)| made).transpose()?;
            let event = Event::new(now_ns(), 7, EventKind::CALL, 1);
            let mut record = || {
                recorder
                    .as_mut()
                    .is_some_and(|it| it.record(&event).is_ok())
            };
            assert!((0..capacity).all(|_| record()));
            let mut requests = drainer.take_requests();
            drainer.look_at_triggers(&mut requests);
            drainer.drain(&requests);
            let (ring, windows) = (drainer.rings.first_mut(), drainer.windows.as_ref());
            for (ring, windows) in ring.into_iter().zip(windows) {
                ring.drain.release(&mut ring.writer, windows)?;
                let found = ring.drain.event_loss().map_or(0, |loss| loss.count);
                assert_eq!(found, lost as u64, "{pre_roll}");
            }
        }
        Ok(())
    }

    #[test]
    fn a_manifest_without_changes_is_not_written_again() -> Result<()> {
        let memory = Memory::new();
        let mut drainer = drainer_on(&memory)?;
        let first = Arc::clone(&drainer.session);
        let next = first.successor("pid_43".into())?;
        first.set_modules(vec![Module::new(3)]);
        first.set_thread_name(0, "main");
        drainer.shared.lock().segment = Some(Arc::new(next));
        drainer.session = drainer.shared.segment();
        drainer.add_threads(&[0]);
        let name = |memory: &Memory| {
            let manifest = memory.bytes("pid_43/manifest.json").unwrap_or_default();
            Manifest::parse(&manifest)
                .threads
                .pop()
                .and_then(|thread| thread.name)
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
        drainer.shared.triggers.fire();
        let fire = |shared: &Shared| assert!(shared.triggers.fire() > 0);
        assert_eq!(served(&mut drainer, fire), 1);
        assert_eq!(served(&mut drainer, |_| {}), 2);
        Ok(())
    }

    #[test]
    fn a_process_that_waits_for_its_last_trigger_is_not_thought_to_live_on() -> Result<()> {
        let mut drainer = drainer()?;
        let requests = drainer.take_requests();
        Trigger::new(Arc::clone(&drainer.shared.triggers)).fire_last();
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
    fn no_trigger_is_served_while_events_are_held_for_another_one() -> Result<()> {
        let mut drainer = drainer()?;
        drainer.shared.triggers.fire();
        drainer.shared.triggers.begun.fetch_add(1, Ordering::SeqCst);
        assert_eq!(served(&mut drainer, |_| {}), 0);
        drainer.shared.triggers.begun.fetch_sub(1, Ordering::SeqCst);
        assert_eq!(served(&mut drainer, |_| {}), 1);
        Ok(())
    }
}
