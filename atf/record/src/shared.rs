//! The state that a recording's threads share.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use atf::internal::Origin;
use atf::write::{SessionTotals, SessionWriter};
use atf::{Error, ErrorKind, Result};

use super::counter::CounterClock;
use super::losses::{AllLosses, Losses};
use super::requests::Pending;
use super::segments::Segments;
use super::sleep;
use super::thread::{ATTEMPTS, Direct, WAITING};
use super::trigger::Triggers;
use super::{Lanes, Overflow, RecordOptions, RecordSummary, ThreadRecorder, Window};
use crate::sys::{Joining, Watched};

/// The state that a recording's threads share.
pub(super) struct Shared {
    pub(super) session: Arc<SessionWriter>,
    pub(super) options: RecordOptions,
    pub(super) number: u64,
    /// The recording process.
    pub(super) origin: Origin,
    pub(super) state: Mutex<State>,
    /// Signals changes to `state`.
    pub(super) changed: Condvar,
    pub(super) triggers: Arc<Triggers>,
    /// Losses of unregistered threads.
    pub(super) unregistered: Arc<Losses>,
    /// The clock of the timestamps, if it is not the system clock.
    pub(super) clock: OnceLock<Arc<CounterClock>>,
    pub(super) update: OnceLock<Update>,
    pub(super) pass: OnceLock<Pass>,
    /// `None` once the drain's thread has been joined.
    drain: Mutex<Option<Joining>>,
    /// The drain's thread.
    pub(super) watched: Arc<Watched>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("session", &self.session)
            .finish_non_exhaustive()
    }
}

/// A function that updates metadata that changes without notice.
type Update = Box<dyn Fn(&SessionWriter) + Send + Sync>;

/// A function that is called after each pass of the drain.
type Pass = Box<dyn Fn() + Send + Sync>;

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) next_thread: u32,
    /// The number of threads that are not finalized.
    pub(super) live: usize,
    /// Threads that record without a ring, by id.
    pub(super) direct: BTreeMap<u32, Arc<Direct>>,
    pub(super) losses: AllLosses,
    pub(super) pending: Pending,
    /// Threads that the drain's thread has created, for their callers.
    pub(super) made: BTreeMap<u32, Result<ThreadRecorder>>,
    /// The session that is being written, unless it is the first.
    pub(super) segment: Option<Arc<SessionWriter>>,
    pub(super) is_stopping: bool,
    pub(super) is_stopped: bool,
    /// The outcome, once the session is finalized, until a caller takes it.
    outcome: Option<Result<RecordSummary>>,
    /// The first error.
    pub(super) error: Option<Error>,
    /// The number of threads whose rings are smaller than the requested capacity.
    pub(super) smaller_rings: u64,
}

impl State {
    /// Returns whether the drain has no work other than draining.
    pub(super) fn is_idle(&mut self) -> bool {
        !self.is_stopping && self.pending.is_empty()
    }

    /// Counts a thread that is finalized.
    pub(super) fn end_thread(&mut self) {
        self.live = self.live.saturating_sub(1);
    }
}

/// How long a thread waits for the drain before checking whether the drain's thread still exists.
const IN_VAIN: Duration = Duration::from_millis(200);

/// How long the end of the process waits for a thread that stops the recording.
const PATIENCE: Duration = Duration::from_secs(10);

thread_local! {
    /// Whether the calling thread is stopping a recording.
    static IS_STOPPING: Cell<bool> = const { Cell::new(false) };
}

/// The number of the next recording. Each recording has its own number.
static RECORDINGS: AtomicU64 = AtomicU64::new(0);

impl Shared {
    pub(super) fn new(session: Arc<SessionWriter>, options: RecordOptions) -> Self {
        Self {
            session,
            options,
            number: RECORDINGS.fetch_add(1, Ordering::Relaxed),
            origin: Origin::current(),
            state: Mutex::default(),
            changed: Condvar::new(),
            triggers: Arc::new(Triggers::new()),
            unregistered: Arc::new(Losses::new()),
            clock: OnceLock::new(),
            update: OnceLock::new(),
            pass: OnceLock::new(),
            drain: Mutex::new(None),
            watched: Arc::default(),
        }
    }

    pub(super) fn drain(&self) -> MutexGuard<'_, Option<Joining>> {
        self.drain.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the error of a thread that could not be registered, unless the recording has already
    /// ended.
    pub(super) fn fail_to_add(&self, error: Error) {
        if *error.kind() != ErrorKind::AlreadyFinalized {
            self.fail(error);
        }
    }

    /// Keeps the first error for the caller that stops the recording, and requests a manifest that
    /// has the first losses, in case the process is killed soon. Does nothing in a forked child,
    /// which cannot stop the recording and may find the lock held forever.
    pub(super) fn fail(&self, error: Error) {
        if !self.origin.is_current() {
            return;
        }
        self.segment().set_recording_error(error.reason());
        let mut state = self.lock();
        if state.error.is_none() {
            state.error = Some(error);
            state.pending.add(|next| next.is_manifest = true);
            self.changed.notify_all();
        }
    }

    pub(super) fn check_process(&self) -> Result<()> {
        if self.origin.is_current() {
            return Ok(());
        }
        let owner = self.origin.process();
        let error = Error::new(ErrorKind::Forked { owner });
        Err(error.with_path(Some(self.session.path())))
    }

    /// Registers a thread. The drain's thread creates the new thread's files and ring, because the
    /// calling thread's stack may be small, as in a signal handler.
    pub(super) fn add_thread(&self, name: Option<&str>) -> Result<ThreadRecorder> {
        let thread_id = self.reserve_thread(name)?;
        self.changed.notify_all();
        let is_missing = |state: &State| !state.made.contains_key(&thread_id);
        let mut state = self.wait_for_drain(self.lock(), is_missing);
        let made = state.made.remove(&thread_id);
        drop(state);
        let made = made.ok_or_else(|| self.stopped())?;
        made.inspect_err(|error| self.segment().set_recording_error(error.reason()))
    }

    /// Waits until the drain has produced what `is_missing` checks for. Returns early if the
    /// drain's thread is gone.
    pub(super) fn wait_for_drain<'a>(
        &self,
        mut state: MutexGuard<'a, State>,
        mut is_missing: impl FnMut(&State) -> bool,
    ) -> MutexGuard<'a, State> {
        loop {
            let changed = &self.changed;
            let waited = changed.wait_timeout_while(state, IN_VAIN, |state| is_missing(state));
            let (now, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            state = now;
            if !timeout.timed_out() || self.watched.is_gone() {
                return state;
            }
        }
    }

    /// Reserves an id and requests the thread from the drain's thread.
    fn reserve_thread(&self, name: Option<&str>) -> Result<u32> {
        let mut state = self.lock();
        let limit = self.options.max_threads;
        if state.live >= limit {
            // Threads that have ended count until the drain has finalized their files: wait for a
            // complete pass, or until the recording stops.
            let ticket = state.pending.add(|_| {});
            self.changed.notify_all();
            state = self.wait_for_drain(state, |state| {
                !state.pending.are_done(ticket) && !state.is_stopping
            });
        }
        if state.is_stopping {
            return Err(self.stopped());
        }
        let thread_id = state.next_thread;
        let (true, Some(next)) = (state.live < limit, thread_id.checked_add(1)) else {
            drop(state);
            let limit = limit as u64;
            let error = Error::new(ErrorKind::LimitReached { limit }).with_field("max_threads");
            self.segment().set_recording_error(error.reason());
            return Err(error.with_path(Some(self.session.path())));
        };
        state.next_thread = next;
        state.live = state.live.saturating_add(1);
        // Before the request, because the drain forgets the name if it cannot create the files.
        if let Some(name) = name {
            self.session.set_thread_name(thread_id, name);
        }
        state.pending.add(|next| next.wanted.push(thread_id));
        Ok(thread_id)
    }

    /// Locks the state for a request. Fails in a forked child, and after the recording was stopped.
    pub(super) fn lock_running(&self) -> Result<MutexGuard<'_, State>> {
        self.check_process()?;
        let state = self.lock();
        if state.is_stopping {
            return Err(self.stopped());
        }
        Ok(state)
    }

    pub(super) fn stopped(&self) -> Error {
        Error::new(ErrorKind::AlreadyFinalized).with_path(Some(self.session.path()))
    }

    /// Makes the drain's thread finalize a thread without a ring when that thread ends.
    pub(super) fn end_direct(&self, thread_id: u32) {
        // In a forked child, the thread still runs in the parent.
        if self.origin.is_current() {
            self.lock().pending.add(|next| next.ended.push(thread_id));
            self.changed.notify_all();
        }
    }

    /// Finalizes the files of a thread without a ring.
    pub(super) fn close_direct(&self, thread_id: u32) {
        let direct = self.lock().direct.remove(&thread_id);
        if let Some(direct) = direct {
            if let Some(Err(error)) = direct.finalize() {
                self.fail(error);
            }
            self.lock().end_thread();
        }
    }

    /// Returns the session that is being written.
    pub(super) fn segment(&self) -> Arc<SessionWriter> {
        let segment = self.lock().segment.clone();
        segment.unwrap_or_else(|| Arc::clone(&self.session))
    }

    /// Passes the losses and the first segment's metadata to the current segment's manifest. If the
    /// segment `is_over`, later losses belong to the next one. Returns the numbers of events and
    /// details lost so far in all segments.
    pub(super) fn pass_losses(&self, is_over: bool) -> (u64, u64) {
        let segment = self.segment();
        segment.take_over(&self.session);
        segment.take_names(&self.session, self.session.take_named());
        segment.set_clock_error(self.clock.get().map(|clock| clock.error_ns()));
        let mut state = self.lock();
        let all = state.losses.pass_to(&segment, &self.unregistered, is_over);
        if all.0 > 0 {
            // This does not depend on the policy: there may be too many threads, or the disk may be
            // full.
            segment.set_drops_events();
            if segment.options().survive_kill && !state.is_stopping {
                // Only the current event is unwritten, but the latest losses are not counted yet.
                segment.set_unwritten_events(Some(1));
            }
        }
        all
    }

    /// Sets the time after which no events are wanted on any thread.
    pub(super) fn want_until(&self, timestamp_ns: u64) {
        self.unregistered.want_until(timestamp_ns);
        for (_, losses) in &self.lock().losses.threads {
            losses.want_until(timestamp_ns);
        }
    }

    /// Updates metadata that changes without notice.
    pub(super) fn update(&self) {
        if let Some(update) = self.update.get() {
            update(&self.session);
        }
    }

    /// Records in the manifest that events will be lost without being counted if the process dies
    /// before the last manifest is written: threads that still run lose all events once their files
    /// are finalized. Does nothing if later events are not wanted.
    ///
    /// Only the drain may call this: it ends and deletes segments, and must not do so meanwhile.
    pub(super) fn declare_end(&self) {
        let is_flight = |window: Window| window.lanes == Lanes::Both;
        let state = self.lock();
        if state.live == 0 || self.options.window.is_some_and(is_flight) {
            return;
        }
        drop(state);
        let segment = self.segment();
        if segment.options().survive_kill {
            // Only the event being recorded is unwritten.
            segment.set_unwritten_events(Some(1));
        }
        segment.set_drops_events();
        // Any error is reported once the last manifest is written.
        let _ = segment.store_manifest();
    }

    /// Stops the recording: see [`Recording::stop`](super::Recording::stop).
    pub(super) fn stop(&self) -> Result<RecordSummary> {
        self.check_process()?;
        self.stop_once().unwrap_or_else(|| {
            // The end of the process may have stopped the recording, and left the outcome.
            let mut state = self.lock();
            let is_stopped = state.is_stopped;
            let outcome = state.outcome.take_if(|_| is_stopped);
            outcome.unwrap_or_else(|| Err(self.stopped()))
        })
    }

    /// Stops the recording. Returns `None` if this was already called.
    fn stop_once(&self) -> Option<Result<RecordSummary>> {
        if std::mem::replace(&mut self.lock().is_stopping, true) {
            return None;
        }
        self.changed.notify_all();
        let outer = IS_STOPPING.replace(true);
        let drain = self.drain().take();
        let state = self.wait_for_drain(self.lock(), |state| state.outcome.is_none());
        let is_finished = state.outcome.is_some();
        drop(state);
        if let Some(join) = drain.filter(|_| is_finished) {
            // The drain has already stored whether it panicked.
            let _ = join();
        }
        IS_STOPPING.set(outer);
        let mut state = self.lock();
        state.is_stopped = true;
        let outcome = state.outcome.take();
        // Otherwise, the system has killed the drain's thread. Do not repeat the fatal call.
        Some(outcome.unwrap_or_else(|| {
            let why = io::Error::other("the system ended the thread that writes the recording");
            Err(Error::io(why).with_path(Some(self.session.path())))
        }))
    }

    /// Runs `drain`, which ends when the recording stops, and then finalizes the session, all on
    /// the drain's thread: the program may have forbidden its other threads to open or write files.
    pub(super) fn run(&self, drain: impl FnOnce() -> Option<Segments>) {
        self.watched.begin();
        let work = || {
            let segments = drain();
            IS_STOPPING.set(true);
            self.finish(segments.as_ref())
        };
        let outcome = panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
            let error = Error::internal("the drain does not panic");
            let segment = self.segment();
            segment.set_recording_error(error.reason());
            // Ignore this error, because the first one is returned.
            let _ = segment.store_manifest();
            Err(error)
        });
        self.lock().outcome = Some(outcome);
        self.changed.notify_all();
    }

    /// Stops the recording at the end of the process, and keeps the outcome for a later
    /// [`stop`](Self::stop). If another thread is stopping it, waits for that.
    ///
    /// A signal handler that ends the process may have interrupted a thread that holds a lock. The
    /// recording is not stopped then.
    pub(super) fn stop_at_exit(&self) {
        if !self.origin.is_current() {
            return;
        }
        let is_stopping = || self.state.try_lock().ok().map(|state| state.is_stopping);
        let is_free = || self.session.is_free() && self.drain.try_lock().is_ok();
        for _ in 0..ATTEMPTS {
            let stopped = match is_stopping() {
                Some(true) => None,
                Some(false) if is_free() => self.stop_once(),
                _ => {
                    sleep(WAITING);
                    continue;
                }
            };
            match stopped {
                Some(outcome) => self.lock().outcome = Some(outcome),
                None => self.wait_until_stopped(),
            }
            return;
        }
    }

    /// Waits for the thread that stops the recording, unless it is the calling thread, interrupted
    /// by a signal handler that ends the process. Does not wait forever, because such a handler may
    /// have interrupted a function whose lock that thread needs, such as `malloc`.
    fn wait_until_stopped(&self) {
        let is_stopped = || self.state.try_lock().is_ok_and(|state| state.is_stopped);
        let start = Instant::now();
        while !IS_STOPPING.get() && !is_stopped() && start.elapsed() < PATIENCE {
            sleep(WAITING);
        }
    }

    /// Finalizes the session, and the threads that the drain does not finalize.
    pub(super) fn finish(&self, segments: Option<&Segments>) -> Result<RecordSummary> {
        self.update();
        self.session.end_recording();
        let direct: Vec<_> = self.lock().direct.keys().copied().collect();
        for thread_id in direct {
            self.close_direct(thread_id);
        }
        if let Some(clock) = self.clock.get() {
            clock.finish();
        }
        for session in segments.iter().flat_map(|segments| &segments.unfinished) {
            // The session's first error has already been recorded.
            let _ = session.finalize();
        }
        let segment = self.segment();
        if segment.options().survive_kill || self.options.overflow == Overflow::Block {
            segment.unset_drops_events();
        }
        self.pass_losses(false);
        segment.set_unwritten_events(None);
        let last = segment.finalize();
        // Threads that are still running may have lost more events while the manifest was written.
        let (lost_events, lost_details) = self.pass_losses(false);
        // Store the losses even if a thread could not be finalized.
        let stored = segment.store_manifest();
        let last = last.and_then(|totals| stored.map(|_| totals));
        let mut state = self.lock();
        let over = segments.map(|segments| (segments.totals, segments.count));
        let (mut totals, segments) = over.unwrap_or((SessionTotals::default(), 1));
        // Return the first error.
        let error = state.error.take();
        totals.add(&error.map_or(last, Err)?);
        Ok(RecordSummary {
            totals,
            segments,
            lost_events,
            lost_details,
            smaller_rings: state.smaller_rings,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use atf::manifest::{Manifest, Missing};
    use atf::write::{Memory, WriteOptions};

    #[test]
    fn a_kill_while_the_recording_stops_is_reported() -> Result<()> {
        for survive_kill in [true, false] {
            let memory = Memory::new();
            let write = WriteOptions::default().survive_kill(survive_kill);
            let session = SessionWriter::create_on(Arc::new(memory.clone()), "s", &write)?;
            let options = RecordOptions::default().overflow(Overflow::Block);
            let shared = Shared::new(Arc::new(session), options);
            shared.options.declare_unwritten(&shared.session);
            shared.lock().live = 1;
            shared.declare_end();
            let manifest = || {
                let bytes = memory.bytes("s/manifest.json").unwrap_or_default();
                Manifest::parse(&bytes)
            };
            let drops = |missing| matches!(missing, Missing::Unwritten { drops: true, .. });
            assert!(manifest().unwritten().is_some_and(drops), "{survive_kill}");
            shared.finish(None)?;
            assert_eq!(manifest().missing(), []);
            assert_eq!(manifest().drops_events, None);
        }
        Ok(())
    }

    #[test]
    fn after_losses_a_kill_may_lose_events_that_are_not_counted() -> Result<()> {
        let memory = Memory::new();
        let write = WriteOptions::default().survive_kill(true);
        let session = SessionWriter::create_on(Arc::new(memory.clone()), "s", &write)?;
        let shared = Shared::new(Arc::new(session), RecordOptions::default());
        shared.options.declare_unwritten(&shared.session);
        let missing = || -> Result<_> {
            shared.pass_losses(false);
            shared.session.store_manifest()?;
            let bytes = memory.bytes("s/manifest.json").unwrap_or_default();
            Ok(Manifest::parse(&bytes).unwritten())
        };
        assert_eq!(missing()?, None);
        shared.unregistered.lose_event(7);
        let drops = |missing| matches!(missing, Missing::Unwritten { drops: true, .. });
        assert!(missing()?.is_some_and(drops));
        shared.lock().is_stopping = true;
        shared.finish(None)?;
        assert_eq!(missing()?, None);
        Ok(())
    }
}
