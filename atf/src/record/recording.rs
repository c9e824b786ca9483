//! A session that is being recorded.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::losses::Losses;
use super::thread::Direct;
use super::{Capacity, Drain, Lost, Overflow, ThreadRecorder, channel};
use crate::error::{Error, ErrorKind, Result};
use crate::manifest::Loss;
use crate::setters::setters;
use crate::write::{Detail, Event, Link, SessionTotals, SessionWriter, ThreadWriter};

/// How a session is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordOptions {
    /// The capacity of each thread's ring.
    pub capacity: Capacity,
    /// The policy for a full ring.
    pub overflow: Overflow,
    /// How long the drain sleeps after it found all rings empty.
    pub interval: Duration,
    /// How many threads may record at the same time. Each takes its ring, two buffers
    /// ([`buffer_size`](crate::write::WriteOptions::buffer_size)) and up to three open files.
    pub max_threads: usize,
}

setters!(RecordOptions {
    capacity: Capacity,
    overflow: Overflow,
    interval: Duration,
    max_threads: usize,
});

impl Default for RecordOptions {
    /// A drain that looks every millisecond, and 256 threads.
    fn default() -> Self {
        Self {
            capacity: Capacity::default(),
            overflow: Overflow::default(),
            interval: Duration::from_millis(1),
            max_threads: 256,
        }
    }
}

/// The outcome of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordSummary {
    /// What was written.
    pub totals: SessionTotals,
    /// Events that were not recorded, with their details.
    pub lost_events: u64,
    /// Details that were not recorded although their events were.
    pub lost_details: u64,
}

/// Records a session: see the [module](super).
///
/// With rings, one thread drains them, writes the files, and keeps the manifest's losses up to
/// date. Dropping a recording stops it.
///
/// # Forks
///
/// A forked child has the rings but not the drain. What it records is lost, its calls return
/// [`Lost::Event`] once the ring is full and never block; the other functions return
/// [`ErrorKind::Forked`]. With [`survive_kill`](crate::write::WriteOptions::survive_kill) it must
/// not record: it shares its parent's buffers.
#[derive(Debug)]
pub struct Recording {
    shared: Arc<Shared>,
    /// `None` once it was joined.
    drain: Mutex<Option<JoinHandle<()>>>,
}

impl Recording {
    /// Starts to record, and writes the manifest. Whoever shares the session can set modules,
    /// symbols and anchors; its threads and its end are the recording's.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfRange`] at a field of the capacity; [`ErrorKind::Io`] if the manifest
    /// cannot be written or the drain's thread cannot be started.
    pub fn start(session: impl Into<Arc<SessionWriter>>, options: &RecordOptions) -> Result<Self> {
        options.capacity.check()?;
        let shared = Arc::new(Shared {
            session: session.into(),
            options: *options,
            number: RECORDINGS.fetch_add(1, Ordering::Relaxed),
            state: Mutex::default(),
            changed: Condvar::new(),
            unregistered: Losses::new(),
        });
        let manifest = shared.session.store_manifest(&[])?;
        let drained = Arc::clone(&shared);
        let thread = thread::Builder::new().name("atf-drain".to_owned());
        let drain = thread.spawn(move || Shared::drain(&drained, manifest));
        Ok(Self {
            shared,
            drain: Mutex::new(Some(drain.map_err(Error::io)?)),
        })
    }

    /// Returns the session, to set modules, symbols and anchors.
    #[must_use]
    pub fn session(&self) -> &SessionWriter {
        &self.shared.session
    }

    /// Registers a thread, with its name if it has one. Threads are numbered from 0.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::LimitReached`] at `max_threads`; [`ErrorKind::AlreadyFinalized`] after the
    /// recording was stopped; [`ErrorKind::Forked`]; those of [`SessionWriter::thread`].
    pub fn thread(&self, name: Option<&str>) -> Result<ThreadRecorder> {
        self.shared.check_process()?;
        self.shared.add_thread(name)
    }

    /// Records an event of the calling thread, which is registered with its first event under the
    /// name that [`std::thread`] knows, and finalized when it ends.
    ///
    /// # Errors
    ///
    /// Those of [`ThreadRecorder::record`]; [`Lost::Event`] if the thread cannot be registered
    /// ([`stop`](Self::stop) returns why) or its thread-local variables are already gone.
    #[inline]
    pub fn record(&self, event: &Event) -> Result<u64, Lost> {
        self.with_thread(event.timestamp_ns, |recorder| recorder.record(event))
    }

    /// As [`record`](Self::record), with a detail.
    ///
    /// # Errors
    ///
    /// Those of [`record`](Self::record) and [`ThreadRecorder::record_with_detail`].
    pub fn record_with_detail(&self, event: &Event, detail: &Detail<'_>) -> Result<Link, Lost> {
        let record = |recorder: &mut ThreadRecorder| recorder.record_with_detail(event, detail);
        self.with_thread(event.timestamp_ns, record)
    }

    #[inline]
    fn with_thread<T>(
        &self,
        timestamp_ns: u64,
        record: impl FnOnce(&mut ThreadRecorder) -> Result<T, Lost>,
    ) -> Result<T, Lost> {
        let number = self.shared.number;
        let recorded = MINE.try_with(|mine| {
            // A signal handler that interrupts this very function finds it borrowed.
            let mut mine = mine.try_borrow_mut().ok()?;
            let known = mine.iter().position(|mine| mine.recording == number);
            let mine = match known.and_then(|known| mine.get_mut(known)) {
                Some(mine) => mine,
                None => self.register(&mut mine)?,
            };
            mine.recorder.as_mut().map(record)
        });
        recorded.ok().flatten().unwrap_or_else(|| {
            self.shared.unregistered.events.add(timestamp_ns);
            Err(Lost::Event)
        })
    }

    /// Registers the calling thread. If that fails, it is not tried again.
    #[cold]
    fn register<'a>(&self, mine: &'a mut Vec<Mine>) -> Option<&'a mut Mine> {
        let is_live = |recorder: &ThreadRecorder| !recorder.is_abandoned();
        mine.retain(|mine| mine.recorder.as_ref().is_some_and(is_live));
        let added = self.thread(thread::current().name());
        mine.push(Mine {
            recording: self.shared.number,
            recorder: added.map_err(|error| self.shared.fail_to_add(error)).ok(),
        });
        mine.last_mut()
    }

    /// Has the drain's thread write the manifest now; otherwise it does within about a second of a
    /// change.
    ///
    /// # Errors
    ///
    /// The first error of the recording so far; [`ErrorKind::AlreadyFinalized`] after it was
    /// stopped; [`ErrorKind::Forked`].
    pub fn write_manifest(&self) -> Result<()> {
        self.shared.check_process()?;
        let mut state = self.shared.lock();
        if state.is_stopping {
            return Err(self.shared.stopped());
        }
        state.manifests_wanted = state.manifests_wanted.saturating_add(1);
        let wanted = state.manifests_wanted;
        self.shared.changed.notify_all();
        let is_missing = |state: &mut State| state.manifests_written < wanted;
        let waited = self.shared.changed.wait_while(state, is_missing);
        let state = waited.unwrap_or_else(PoisonError::into_inner);
        state.error.clone().map_or(Ok(()), Err)
    }

    /// Passes everything recorded before this call to the operating system, and returns whether
    /// that was done before the deadline.
    ///
    /// # Errors
    ///
    /// The first error of the recording so far; [`ErrorKind::AlreadyFinalized`] if the recording was
    /// stopped; [`ErrorKind::Forked`].
    pub fn flush(&self, deadline: Duration) -> Result<bool> {
        self.shared.check_process()?;
        let mut state = self.shared.lock();
        if state.is_stopping {
            return Err(self.shared.stopped());
        }
        state.requested = state.requested.saturating_add(1);
        let wanted = state.requested;
        self.shared.changed.notify_all();
        let is_missing = |state: &mut State| state.flushed < wanted && !state.is_stopping;
        let waited = self
            .shared
            .changed
            .wait_timeout_while(state, deadline, is_missing);
        let state = waited.unwrap_or_else(PoisonError::into_inner).0;
        let is_flushed = state.flushed >= wanted;
        match &state.error {
            Some(error) => Err(error.clone()),
            None if state.is_stopping && !is_flushed => Err(self.shared.stopped()),
            None => Ok(is_flushed),
        }
    }

    /// Stops to record: drains all rings once more, finalizes all threads and the manifest. Events
    /// whose calls returned before are in the trace; later ones are lost, and their calls report it.
    ///
    /// # Errors
    ///
    /// The first error of the recording: [`ErrorKind::Io`], of threads that could not be
    /// registered, [`ErrorKind::LimitReached`] for more events than a file can count. The rest of
    /// the session is finalized all the same. [`ErrorKind::AlreadyFinalized`] if it was stopped
    /// before; [`ErrorKind::Forked`].
    pub fn stop(&self) -> Result<RecordSummary> {
        self.shared.check_process()?;
        if std::mem::replace(&mut self.shared.lock().is_stopping, true) {
            return Err(self.shared.stopped());
        }
        self.shared.changed.notify_all();
        let drain = self.drain.lock();
        let drain = drain.unwrap_or_else(PoisonError::into_inner).take();
        if drain.is_some_and(|drain| drain.join().is_err()) {
            return Err(Error::internal("the drain does not panic"));
        }
        self.shared.finish()
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        // Nobody can receive an error here.
        if self.stop().is_err() && self.shared.check_process().is_err() {
            // That thread does not exist in this process: it can be neither joined nor detached.
            let drain = self.drain.get_mut();
            std::mem::forget(drain.unwrap_or_else(PoisonError::into_inner).take());
        }
    }
}

/// How often the manifest is written while it changes.
const MANIFEST_INTERVAL: Duration = Duration::from_secs(1);

/// Tells recordings apart.
static RECORDINGS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// The recorders of threads that registered with their first event.
    static MINE: RefCell<Vec<Mine>> = const { RefCell::new(Vec::new()) };
}

/// The calling thread's recorder in one recording.
struct Mine {
    recording: u64,
    /// `None` if the thread could not be registered.
    recorder: Option<ThreadRecorder>,
}

/// What the threads of a recording share.
#[derive(Debug)]
pub(super) struct Shared {
    session: Arc<SessionWriter>,
    options: RecordOptions,
    number: u64,
    state: Mutex<State>,
    /// Signals changes of `state`.
    changed: Condvar,
    /// Events of threads that are not registered.
    unregistered: Losses,
}

#[derive(Debug, Default)]
struct State {
    next_thread: u32,
    /// Threads that are not finalized.
    live: usize,
    /// Threads without a ring that record, and those that have ended and are not finalized.
    direct: Vec<Arc<Direct>>,
    ended: Vec<Arc<Direct>>,
    /// What each thread lost, also after it ended.
    losses: Vec<(u32, Arc<Losses>)>,
    /// Threads that the drain's thread creates, and those that it created.
    wanted: Vec<u32>,
    made: Vec<(u32, Result<ThreadRecorder>)>,
    /// How often the manifest was requested, and written then.
    manifests_wanted: u64,
    manifests_written: u64,
    /// How many flushes were requested, and done.
    requested: u64,
    flushed: u64,
    is_stopping: bool,
    /// The first error.
    error: Option<Error>,
}

/// A ring with the writer that it is drained into.
#[derive(Debug)]
struct Ring {
    drain: Drain,
    writer: ThreadWriter,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the error of a thread that could not be registered, unless it came too late.
    fn fail_to_add(&self, error: Error) {
        if *error.kind() != ErrorKind::AlreadyFinalized {
            self.fail(error);
        }
    }

    /// Keeps the first error for whoever stops the recording. A forked child cannot stop it, and may
    /// find the lock held for ever.
    pub(super) fn fail(&self, error: Error) {
        if self.check_process().is_err() {
            return;
        }
        self.lock().error.get_or_insert(error);
    }

    fn check_process(&self) -> Result<()> {
        let owner = self.unregistered.process;
        if std::process::id() == owner {
            return Ok(());
        }
        let error = Error::new(ErrorKind::Forked { owner });
        Err(error.with_path(Some(self.session.path())))
    }

    /// Registers a thread. The drain's thread creates its files and its ring: this one's stack may
    /// be small, as that of a signal handler is.
    fn add_thread(&self, name: Option<&str>) -> Result<ThreadRecorder> {
        let thread_id = self.reserve_thread()?;
        if let Some(name) = name {
            self.session.set_thread_name(thread_id, name);
        }
        self.changed.notify_all();
        let mut state = self.lock();
        loop {
            let made = state.made.iter().position(|(made, _)| *made == thread_id);
            if let Some(made) = made {
                return state.made.swap_remove(made).1;
            }
            let waited = self.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Reserves an id, and asks the drain's thread for the thread.
    fn reserve_thread(&self) -> Result<u32> {
        let mut state = self.lock();
        if state.is_stopping {
            return Err(self.stopped());
        }
        let limit = self.options.max_threads;
        let thread_id = state.next_thread;
        let (true, Some(next)) = (state.live < limit, thread_id.checked_add(1)) else {
            let limit = limit as u64;
            let error = Error::new(ErrorKind::LimitReached { limit }).with_field("max_threads");
            return Err(error.with_path(Some(self.session.path())));
        };
        state.next_thread = next;
        state.live = state.live.saturating_add(1);
        state.wanted.push(thread_id);
        Ok(thread_id)
    }

    /// Creates a thread's files, and its ring if it has one.
    fn create_thread(
        this: &Arc<Self>,
        thread_id: u32,
        rings: &mut Vec<Ring>,
    ) -> Result<ThreadRecorder> {
        let writer = this.session.thread(thread_id)?;
        if this.session.options().survive_kill {
            let direct = Arc::new(Direct::new(writer));
            let mut state = this.lock();
            state.losses.push((thread_id, direct.losses()));
            state.direct.push(Arc::clone(&direct));
            return Ok(ThreadRecorder::direct(thread_id, direct, Arc::clone(this)));
        }
        // The capacity was checked at the start.
        let (recorder, drain) = channel(this.options.capacity, this.options.overflow)?;
        this.lock().losses.push((thread_id, drain.losses()));
        rings.push(Ring { drain, writer });
        Ok(ThreadRecorder::with_ring(thread_id, recorder))
    }

    fn stopped(&self) -> Error {
        Error::new(ErrorKind::AlreadyFinalized).with_path(Some(self.session.path()))
    }

    /// Drains the rings until the recording stops, and keeps the manifest up to date: the body of
    /// the drain's thread.
    fn drain(this: &Arc<Self>, mut manifest: Vec<u8>) {
        let mut rings = Vec::new();
        let mut manifest_time = Instant::now();
        loop {
            let (wanted, ended, manifests, flush, is_flush, is_last) = {
                let mut state = this.lock();
                (
                    std::mem::take(&mut state.wanted),
                    std::mem::take(&mut state.ended),
                    state.manifests_wanted,
                    state.requested,
                    state.requested > state.flushed,
                    state.is_stopping,
                )
            };
            for direct in &ended {
                this.close_direct(direct);
            }
            for thread_id in wanted {
                let made = Self::create_thread(this, thread_id, &mut rings);
                let mut state = this.lock();
                if made.is_err() {
                    state.live = state.live.saturating_sub(1);
                }
                state.made.push((thread_id, made));
                this.changed.notify_all();
            }
            let mut drained = 0_u64;
            rings.retain_mut(|ring| match this.step(ring, is_flush, is_last) {
                Ok(count) if !is_last && !ring.drain.is_finished() => {
                    drained = drained.saturating_add(count);
                    true
                }
                outcome => {
                    this.close(ring, outcome.map(drop));
                    false
                }
            });
            let is_wanted = this.lock().manifests_written < manifests;
            if is_wanted || manifest_time.elapsed() >= MANIFEST_INTERVAL && !is_last {
                this.tell_losses();
                match this.session.store_manifest(&manifest) {
                    Ok(stored) => manifest = stored,
                    Err(error) => this.fail(error),
                }
                manifest_time = Instant::now();
            }
            let mut state = this.lock();
            state.flushed = flush;
            state.manifests_written = manifests;
            if is_flush || is_wanted {
                this.changed.notify_all();
            }
            if is_last {
                return;
            }
            if drained == 0 {
                let is_idle = |state: &mut State| {
                    let has_written = state.manifests_written == state.manifests_wanted;
                    let is_asked = state.is_stopping || state.requested > state.flushed;
                    let has_work = !state.wanted.is_empty() || !state.ended.is_empty();
                    !is_asked && has_written && !has_work
                };
                let interval = this.options.interval;
                // Whether it was woken or the time is over, the rings are looked into.
                let _ = this.changed.wait_timeout_while(state, interval, is_idle);
            }
        }
    }

    /// Drains a ring once, and returns the number of events.
    fn step(&self, ring: &mut Ring, is_flush: bool, is_last: bool) -> Result<u64> {
        if is_last {
            ring.drain.close();
        }
        let drained = ring.drain.drain_into(&mut ring.writer)?;
        if is_flush {
            ring.writer.flush()?;
        }
        Ok(drained.events)
    }

    /// Finalizes a ring's files. What is left in the ring is lost, and so is what the thread records
    /// later.
    fn close(&self, ring: &mut Ring, outcome: Result<()>) {
        if let Err(error) = outcome.and_then(|()| ring.writer.finalize().map(drop)) {
            self.fail(error);
        }
        // After the files, so that it counts what was recorded meanwhile.
        ring.drain.give_up();
        let mut state = self.lock();
        state.live = state.live.saturating_sub(1);
    }

    /// Has the drain's thread finalize a thread without a ring that ends.
    pub(super) fn end_direct(&self, direct: &Arc<Direct>) {
        // In a forked child, it is not its parent's thread that ends.
        if self.check_process().is_ok() {
            let mut state = self.lock();
            state.direct.retain(|other| !Arc::ptr_eq(other, direct));
            state.ended.push(Arc::clone(direct));
            self.changed.notify_all();
        }
    }

    /// Finalizes the files of a thread without a ring.
    fn close_direct(&self, direct: &Direct) {
        if let Some(Err(error)) = direct.finalize() {
            self.fail(error);
        }
        let mut state = self.lock();
        state.live = state.live.saturating_sub(1);
    }

    /// Passes the losses to the manifest, and returns the sums for both lanes.
    fn tell_losses(&self) -> (u64, u64) {
        let unregistered = self.unregistered.events.count();
        self.lock()
            .losses
            .iter()
            .fold((unregistered, 0), |sums, (thread_id, losses)| {
                let (events, details) = (losses.events.loss(), losses.details.loss());
                if events.is_some() || details.is_some() {
                    self.session.set_losses(*thread_id, events, details);
                }
                let count = |loss: Option<Loss>| loss.map_or(0, |loss| loss.count);
                (
                    sums.0.saturating_add(count(events)),
                    sums.1.saturating_add(count(details)),
                )
            })
    }

    /// Finalizes what the drain does not, and the session.
    fn finish(&self) -> Result<RecordSummary> {
        let direct = {
            let mut state = self.lock();
            let mut direct = std::mem::take(&mut state.direct);
            direct.append(&mut state.ended);
            direct
        };
        for direct in &direct {
            self.close_direct(direct);
        }
        let (lost_events, lost_details) = self.tell_losses();
        let totals = self.session.finalize();
        // The first error counts.
        let error = self.lock().error.take();
        Ok(RecordSummary {
            totals: error.map_or(totals, Err)?,
            lost_events,
            lost_details,
        })
    }
}
