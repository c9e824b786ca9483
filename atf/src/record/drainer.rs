//! The thread that drains the rings of a recording.

mod ended;
mod register;
mod ring;
mod updates;

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Lanes;
use super::output::{Output, Target as _};
use super::segments::Segments;
use super::shared::{Pass, Shared, State};
use super::thread::Direct;
use super::trigger::Calls;
use super::window::Windows;
use crate::clock::now_ns;
use crate::error::Result;
use crate::write::SessionWriter;
use ended::Ended;
use register::MOST_LISTED_AT_ONCE;
use ring::{Ring, Step};
use updates::Updates;

/// The interval between manifest writes while the manifest changes.
const MANIFEST_INTERVAL: Duration = Duration::from_secs(1);

/// The pause after a manifest write, as a multiple of the write's duration. With very many threads,
/// the manifest is large and takes a long time to write.
const MANIFEST_REST: u32 = 50;

/// The drainer, which drains all rings into the threads' files and keeps the manifest up to date.
#[derive(Debug)]
pub(super) struct Drainer {
    shared: Arc<Shared>,
    /// The session that is being written.
    session: Arc<SessionWriter>,
    segments: Option<Segments>,
    rings: Vec<Ring>,
    ended: Ended,
    windows: Option<Windows>,
    calls: Calls,
    /// When the manifest was last written.
    manifest_time: Instant,
    /// How long to wait before the next manifest write.
    manifest_interval: Duration,
    /// The manifest's size in bytes.
    manifest_size: usize,
    /// Whether the last manifest write succeeded.
    is_manifest_stored: bool,
    /// How many threads had files at the last manifest write.
    listed_threads: usize,
    updates: Updates,
}

/// A newly created segment, with an output for each ring.
struct NextSegment {
    session: Arc<SessionWriter>,
    manifest_size: usize,
    outputs: Vec<Output>,
}

/// The work of one pass, apart from draining.
struct Requests {
    /// The threads to create.
    wanted: Vec<u32>,
    /// The threads without a ring that have ended.
    ended: Vec<Arc<Direct>>,
    /// How many manifest writes have been requested so far.
    manifests: u64,
    /// How many flushes have been requested so far.
    flushes: u64,
    /// How many passes have been requested so far.
    passes: u64,
    is_manifest: bool,
    is_pass: bool,
    is_flush: bool,
    is_last: bool,
    /// When the pass began. `opened` and `closed` include all windows opened before that time.
    now_ns: u64,
    opened: Option<u64>,
    closed: Vec<(u64, u64)>,
    /// How many triggers the pass serves.
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
            ended: Ended::new(),
            windows: shared.options.window.map(Windows::new),
            calls: Calls::default(),
            shared,
            manifest_time: Instant::now(),
            manifest_interval: MANIFEST_INTERVAL,
            manifest_size: 0,
            is_manifest_stored: true,
            listed_threads: 0,
            updates: Updates::new(),
        }
    }

    /// Drains until the recording stops.
    pub(super) fn run(mut self) {
        loop {
            let mut requests = self.take_requests();
            if requests.is_last {
                self.shared.tell_end();
            }
            self.look_at_triggers(&mut requests);
            for direct in &requests.ended {
                self.shared.close_direct(direct);
            }
            if !requests.wanted.is_empty() {
                self.add_threads(&requests.wanted);
            }
            let is_behind = self.drain(&requests);
            self.prepare_end(&requests);
            self.list_new_threads();
            self.update();
            if let Some(Pass(look)) = self.shared.pass.get() {
                look();
            }
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
            state.passes_done = requests.passes;
            if requests.is_flush || requests.is_manifest || requests.is_pass {
                self.shared.changed.notify_all();
            }
            if requests.is_last {
                return;
            }
            if !is_behind {
                let interval = self.shared.options.interval;
                // Ignore the result: the drain checks the rings whether it was woken or timed out.
                let changed = &self.shared.changed;
                let _ = changed.wait_timeout_while(state, interval, State::is_idle);
            }
        }
    }

    fn take_requests(&self) -> Requests {
        // Read this before the pass's time, so that the events that these triggers request are
        // earlier than that time and the pass does not hold them.
        let fired = self.shared.triggers.fired();
        Requests::take(&mut self.shared.lock(), fired)
    }

    /// Updates the windows before any event is kept or discarded.
    fn look_at_triggers(&mut self, requests: &mut Requests) {
        let triggers = &self.shared.triggers;
        if let Some(windows) = &mut self.windows {
            windows.begin();
            for (start, end) in &requests.closed {
                windows.add(*start, *end);
            }
            windows.set_open(requests.opened);
            // A trigger that begins later requests nothing before the time of this pass.
            let is_busy = self.calls.are_busy(triggers.begun(), Instant::now());
            triggers.take(|first, last| windows.trigger(first, last));
            match (requests.is_last, is_busy) {
                (true, _) => {
                    windows.decide_all(requests.now_ns);
                    if windows.lanes() == Lanes::Both {
                        self.shared.want_until(requests.now_ns);
                    }
                }
                (false, false) => windows.decide_at(requests.now_ns),
                // A trigger that is currently being fired may request held events.
                (false, true) => requests.triggers = triggers.served(),
            }
        }
        requests.is_flush |= requests.triggers > triggers.served();
    }

    /// Drains each ring once and closes finished rings. Returns whether the next pass should follow
    /// immediately.
    fn drain(&mut self, requests: &Requests) -> bool {
        let (mut is_behind, mut steps) = (false, Vec::new());
        let triggers = &self.shared.triggers;
        let is_first = |ring: &Ring| triggers.is_first(ring.thread_id());
        if triggers.is_ending()
            && let Some(first) = self.rings.iter().position(is_first)
        {
            self.rings.swap(0, first);
        }
        let windows = self.windows.as_ref();
        let gone = self.rings.extract_if(.., |ring| {
            let step = ring.step(requests, windows);
            is_behind |= matches!(step, Ok(Step::Behind));
            let stays = matches!(step, Ok(Step::Behind | Step::Drained));
            if !stays {
                steps.push(step);
            }
            !stays
        });
        let gone: Vec<_> = gone.collect();
        self.drain_ended(requests);
        for (ring, step) in gone.into_iter().zip(steps) {
            match step {
                Ok(Step::Ended) => self.keep_ended(ring, requests.now_ns),
                step => {
                    // A live thread gets files even if they stay empty.
                    let needs_files = requests.is_last && !ring.drain.is_abandoned();
                    self.close(ring, step, needs_files);
                }
            }
        }
        self.release_ended();
        is_behind
    }

    /// Begins the next segment if the current one is over. If the next one cannot be created, the
    /// current one continues.
    fn change_segment(&mut self) {
        if let Some(mut segments) = self.segments.take() {
            let writers = self.all_rings().filter_map(|ring| ring.output.existing());
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

    /// Creates the next segment with an output for each ring. On failure, removes everything that
    /// was created.
    fn create_segment(&self, segments: &mut Segments) -> Result<NextSegment> {
        let session = Arc::new(segments.create(&self.session)?);
        session.take_over(&self.shared.session);
        let threads: Vec<_> = self.all_rings().map(Ring::thread_id).collect();
        session.take_names(&self.shared.session, threads.iter().copied());
        self.shared.options.tell_unwritten(&session);
        let outputs = threads.iter().map(|thread_id| {
            let mut output = Output::new(&session, *thread_id);
            if !self.is_flight() {
                output.writer()?;
            }
            Ok(output)
        });
        // The manifest lists all threads, so if it cannot be written, their writers are dropped
        // here.
        let created = outputs.collect::<Result<_>>().and_then(|outputs| {
            let manifest_size = session.store_manifest()?;
            Ok((manifest_size, outputs))
        });
        match created {
            Ok((manifest_size, outputs)) => Ok(NextSegment {
                session,
                manifest_size,
                outputs,
            }),
            Err(error) => {
                // Ignore an error here, because the first error is returned.
                let _ = session.files_of(threads).delete();
                Err(error)
            }
        }
    }

    /// Finalizes the current segment and begins the next one, even if finalizing fails.
    fn begin_segment(&mut self, segments: &mut Segments, next: NextSegment) {
        let mut finalized = Ok(());
        let rings = self.rings.iter_mut().chain(self.ended.rings_mut());
        for (ring, output) in rings.zip(next.outputs) {
            finalized = finalized.and(ring.output.finalize());
            ring.count_unwritten();
            ring.output = output;
        }
        self.ended.recount();
        self.shared.tell(true);
        // Copy the thread names that were set in the meantime.
        let threads = self.all_rings().map(Ring::thread_id);
        next.session.take_names(&self.shared.session, threads);
        if finalized.is_ok() {
            // Events still in the rings go to the next segment.
            self.session.set_unwritten_events(None);
        }
        let ended = std::mem::replace(&mut self.session, Arc::clone(&next.session));
        self.manifest_size = next.manifest_size;
        self.listed_threads = self.session.thread_count();
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

    /// Updates the manifest before threads that wait for triggers continue, because the process may
    /// then end. Clears `unwritten_events` if all requested events have been passed to the system.
    fn prepare_end(&mut self, requests: &Requests) {
        let triggers = &self.shared.triggers;
        let is_asked = triggers.is_ending() && requests.triggers > triggers.served();
        // Without windows, every later event is recorded.
        let windows = self.windows.as_ref();
        let asks = windows.is_none_or(|windows| windows.ask_for_later(now_ns()));
        let is_over = self.is_flight() && !asks;
        if is_asked {
            self.shared.update();
        }
        if is_asked && is_over && self.shared.lock().error.is_none() {
            self.session.set_unwritten_events(None);
            // Any error is reported when the recording stops.
            let _ = self.store_manifest();
        }
    }

    /// Writes the manifest if it does not list all threads with files, unless it is very large.
    fn list_new_threads(&mut self) {
        let is_complete = self.session.thread_count() == self.listed_threads;
        if !is_complete && self.manifest_size <= MOST_LISTED_AT_ONCE {
            // Any error is reported when the recording stops.
            let _ = self.store_manifest();
        }
    }

    /// Updates metadata if an update is due.
    fn update(&mut self) {
        let now = Instant::now();
        if self.updates.are_due(now) {
            self.shared.update();
            // Any error is reported when the recording stops.
            let _ = self.store_manifest();
            self.updates.took(now.elapsed());
        }
    }

    /// Returns whether threads get their files only once a trigger requests their events.
    fn is_flight(&self) -> bool {
        let windows = self.windows.as_ref();
        windows.is_some_and(|windows| windows.lanes() == Lanes::Both)
    }

    fn all_rings(&self) -> impl Iterator<Item = &Ring> {
        self.rings.iter().chain(self.ended.rings())
    }

    /// Writes the manifest if a write was requested or is due.
    fn write_manifest(&mut self, requests: &Requests) {
        let is_ending = self.shared.triggers.is_ending();
        let interval = if is_ending {
            MANIFEST_INTERVAL
        } else {
            self.manifest_interval
        };
        let is_due = self.manifest_time.elapsed() >= interval && !requests.is_last;
        let triggers = &self.shared.triggers;
        // Do not assume that a process that waits for a trigger will keep running.
        let is_waiting = triggers.fired() > triggers.served();
        if is_due && !is_waiting && triggers.live_on() {
            self.shared.options.tell_unwritten(&self.session);
        }
        if requests.is_manifest || is_due {
            // Any error is reported when the recording stops.
            let _ = self.store_manifest();
        }
    }

    fn store_manifest(&mut self) -> Result<()> {
        let start = Instant::now();
        self.listed_threads = self.session.thread_count();
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
            passes: state.passes_wanted,
            is_manifest: state.manifests_wanted > state.manifests_written,
            is_pass: state.passes_wanted > state.passes_done,
            is_flush: state.requested > state.flushed,
            is_last: state.is_stopping,
            now_ns: now_ns(),
            opened: state.opened,
            closed: std::mem::take(&mut state.closed),
            triggers,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;
    use crate::error::{Error, ErrorKind};
    use crate::index::IndexReader;
    use crate::manifest::{Loss, Manifest, Module, Symbol};
    use crate::record::{Capacity, RecordOptions, ThreadRecorder, Trigger, Window};
    use crate::wire::EventKind;
    use crate::write::{Event, Memory, WriteOptions};

    fn drainer() -> Result<Drainer> {
        drainer_on(&Memory::new())
    }

    fn drainer_on(memory: &Memory) -> Result<Drainer> {
        drainer_with(memory, Window::default())
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
        let made = drainer.shared.lock().made.pop();
        made.map_or_else(
            || Err(Error::internal("the thread is made")),
            |(_, made)| made,
        )
    }

    /// Drains once.
    pub(super) fn pass(drainer: &mut Drainer) {
        let mut requests = drainer.take_requests();
        drainer.look_at_triggers(&mut requests);
        drainer.drain(&requests);
    }

    /// Returns how many triggers a pass serves if `meanwhile` runs just after the pass begins.
    fn served(drainer: &mut Drainer, meanwhile: impl FnOnce(&Shared)) -> u64 {
        let mut requests = drainer.take_requests();
        meanwhile(&drainer.shared);
        drainer.look_at_triggers(&mut requests);
        requests.triggers
    }

    #[test]
    fn the_losses_of_ended_threads_are_added_up() -> Result<()> {
        let memory = Memory::new();
        let mut drainer = drainer_on(&memory)?;
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
            assert_eq!(drainer.shared.tell(false).0, lost, "{lanes:?}");
        }
        Ok(())
    }

    #[test]
    fn a_ring_that_is_smaller_than_requested_loses_what_a_full_ring_would_keep() -> Result<()> {
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
            let index = memory
                .bytes("pid_42/thread_0/index.atf")
                .unwrap_or_default();
            let kept = IndexReader::from_bytes(index)?.event_count();
            let lost = drainer.shared.tell(false).0;
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
    fn a_process_that_waits_for_its_last_trigger_is_not_expected_to_continue() -> Result<()> {
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
    fn symbols_that_are_too_large_cost_no_events() -> Result<()> {
        let memory = Memory::new();
        let (storage, write) = (Arc::new(memory.clone()), WriteOptions::default());
        let mut session = SessionWriter::create_on(storage, "pid_42", &write)?;
        session.manifest_limit = 1000;
        let shared = Shared::new(Arc::new(session), RecordOptions::default());
        let mut drainer = Drainer::new(Arc::new(shared));
        let symbol = Symbol::new(7, "f".repeat(1000));
        drainer.session.add_symbol(symbol);
        let mut recorder = new_thread(&mut drainer, 0)?;
        assert!(
            recorder
                .record(&Event::new(100, 7, EventKind::CALL, 1))
                .is_ok()
        );
        drop(recorder);
        pass(&mut drainer);
        let error = drainer.shared.finish().err();
        let is_too_large =
            |error: &Error| matches!(error.kind(), ErrorKind::ManifestTooLarge { .. });
        assert!(error.as_ref().is_some_and(is_too_large), "{error:?}");
        let manifest = memory.bytes("pid_42/manifest.json").unwrap_or_default();
        assert_eq!(Manifest::parse(&manifest).threads.len(), 1);
        let index = memory
            .bytes("pid_42/thread_0/index.atf")
            .unwrap_or_default();
        assert_eq!(IndexReader::from_bytes(index)?.event_count(), 1);
        Ok(())
    }

    #[test]
    fn the_thread_that_crashed_is_written_first() -> Result<()> {
        let mut drainer = drainer()?;
        let _recorders = [0, 1, 2].map(|thread_id| new_thread(&mut drainer, thread_id));
        let trigger = Trigger::new(Arc::clone(&drainer.shared.triggers));
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
        drainer.shared.triggers.fire();
        drainer.shared.triggers.begun.fetch_add(1, Ordering::SeqCst);
        assert_eq!(served(&mut drainer, |_| {}), 0);
        drainer.shared.triggers.begun.fetch_sub(1, Ordering::SeqCst);
        assert_eq!(served(&mut drainer, |_| {}), 1);
        Ok(())
    }
}
