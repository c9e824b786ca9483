//! A session that is being recorded.

use std::cell::RefCell;
use std::io;
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::Duration;

#[cfg(doc)]
use atf::ErrorKind;
use atf::clock::now_ns;
use atf::internal::uncancelled;
use atf::write::{Detail, Event, Link, SessionWriter};
use atf::{Error, Result};

use super::counter::CounterClock;
use super::drainer::Drainer;
use super::exit;
use super::shared::{Shared, State};
use super::{LossCounter, Lost, RecordOptions, RecordSummary, ThreadRecorder, Trigger};
use crate::sys::{self, Barrier};

/// A recording of a session: see the [module](super).
///
/// With rings, one thread drains them, writes the files, and keeps the loss counts in the manifest
/// up to date. Dropping a recording stops it.
///
/// # Signals
///
/// A signal handler may record: its event is lost and counted if the handler interrupted a call
/// that records on the same thread. The thread must be registered. A handler may also use
/// [triggers](Trigger) and [loss counters](LossCounter). The other functions take locks, so a
/// handler that calls them, for example to stop, may wait forever. If a handler calls `exit`, the recording
/// is [stopped](RecordOptions::stop_at_exit), unless the handler interrupted one of them.
///
/// # The start and end of the process
///
/// A library's constructor may start a recording, and its destructor may stop it, even if the
/// library is loaded by `dlopen`. On Unix, [`exit`](std::process::exit) and a return from `main`
/// stop a recording that is still running, unless
/// [`stop_at_exit`](RecordOptions::stop_at_exit) is unset. If another thread is stopping it, they
/// wait for that thread, but for at most 10 seconds. `abort`, `exec` and `_exit` lose the same
/// events as a kill.
///
/// # Failed writes
///
/// If a thread's files cannot be written, for example on a full disk, the thread's later events are
/// lost and counted, and [`flush`](Self::flush) and [`stop`](Self::stop) return the error. If the
/// manifest cannot be replaced either, the losses and the first error are stored in the spare space
/// of its last version, if it can be mapped. A session's folder that is deleted is not created
/// again: new threads get no files.
///
/// # Forks
///
/// A forked child has the rings but not the drain, so all events it records are lost: its calls
/// never block, and return [`Lost::Event`] once the ring is full. Waiting for triggers returns
/// immediately, and functions that return a [`Result`] return [`ErrorKind::Forked`]. With
/// [`survive_kill`](atf::write::WriteOptions::survive_kill), each call returns [`Lost::Event`], and
/// the parent's files stay as they are. A child of `vfork` must not record at all. A forked child
/// can start its own recording, in another session.
#[derive(Debug)]
pub struct Recording {
    pub(super) shared: Arc<Shared>,
}

impl Recording {
    /// Starts recording, and writes the manifest. Other owners of the session can set modules,
    /// symbols and anchors; only the recording adds threads and finalizes the session.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::HasRecording`] if the session has, or had, another recording;
    /// [`ErrorKind::AlreadyFinalized`] if the session is finalized;
    /// [`ErrorKind::OutOfRange`] at a field of the capacity or at `keep`; [`ErrorKind::NeedsRings`]
    /// at `window` or `segment` if the session [survives a
    /// kill](atf::write::WriteOptions::survive_kill); [`ErrorKind::Io`] if the manifest cannot be
    /// written or the drain's thread cannot be started. After an error other than the first two,
    /// the session can still be recorded or written.
    pub fn start(session: impl Into<Arc<SessionWriter>>, options: &RecordOptions) -> Result<Self> {
        Self::start_on(session, options, sys::spawn)
    }

    /// Like [`start`](Self::start), but runs the drain on a thread that `spawn` starts. `spawn`
    /// receives the thread's work. It returns a function that waits for the thread to end and
    /// returns whether it ended without a panic.
    ///
    /// The work uses no thread-local variables with destructors. `std` threads do register such
    /// destructors, and the C library takes the loader's lock for them. A thread that waits for the
    /// drain in the constructor of a library that is being loaded already holds that lock, so start
    /// a plain system thread, as [`start`](Self::start) does on Unix.
    ///
    /// # Errors
    ///
    /// The errors of [`start`](Self::start).
    pub fn start_on(
        session: impl Into<Arc<SessionWriter>>,
        options: &RecordOptions,
        spawn: impl FnOnce(Box<dyn FnOnce() + Send>) -> io::Result<Box<dyn FnOnce() -> bool + Send>>,
    ) -> Result<Self> {
        let session = session.into();
        options.check(&session)?;
        session.begin_recording()?;
        options.declare_unwritten(&session);
        let shared = Arc::new(Shared::new(session, *options));
        let start = || {
            shared.session.store_manifest()?;
            if shared.session.options().survive_kill {
                // The first use of a barrier is faster before the drain's thread exists.
                let _ = Barrier::new();
            }
            let drainer = Drainer::new(Arc::clone(&shared));
            let theirs = Arc::clone(&shared);
            spawn(Box::new(move || theirs.run(|| drainer.run()))).map_err(Error::io)
        };
        let joining = start().inspect_err(|_| shared.session.cancel_recording())?;
        *shared.drain() = Some(joining);
        if options.stop_at_exit {
            exit::stop(&shared);
        }
        Ok(Self { shared })
    }

    /// Returns whether this process is a forked child of the recording process. A child must not
    /// wait for any other thread of its parent.
    #[must_use]
    pub fn is_forked(&self) -> bool {
        !self.shared.origin.is_current()
    }

    /// Returns the session, for setting modules, symbols and anchors.
    #[must_use]
    pub fn session(&self) -> &SessionWriter {
        &self.shared.session
    }

    /// Registers a thread with an optional name. Threads are numbered from 0.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::LimitReached`] at `max_threads` or `ring_memory`;
    /// [`ErrorKind::AlreadyFinalized`] after the recording was stopped; [`ErrorKind::Forked`];
    /// those of [`SessionWriter::thread`].
    pub fn thread(&self, name: Option<&str>) -> Result<ThreadRecorder> {
        self.shared.check_process()?;
        self.shared.add_thread(name)
    }

    /// Makes the drain's thread adjust `clock` and write the clock's error to the manifest, for
    /// tracers that take their timestamps from that clock. Only the first call has an effect.
    pub fn use_clock(&self, clock: Arc<CounterClock>) {
        self.shared.clock.get_or_init(|| clock);
    }

    /// Returns the time of the clock set by [`use_clock`](Self::use_clock), or of
    /// [`now_ns`](atf::clock::now_ns).
    #[must_use]
    #[inline]
    pub fn now_ns(&self) -> u64 {
        match self.shared.clock.get() {
            None => now_ns(),
            Some(clock) => clock.now_ns(),
        }
    }

    /// Sets a function for updating metadata that changes without notice, such as thread names, so
    /// that the manifest is up to date even if the process dies. Only the first call has an effect.
    ///
    /// The drain's thread calls `update` 10 ms after a thread was registered, 20 ms after that, and
    /// so on, but less often if updates are slow. It also calls `update` after
    /// [`Trigger::fire_last`] and before it ends. `update` must not wait for anything that waits for
    /// the drain.
    pub fn on_update(&self, update: impl Fn(&SessionWriter) + Send + Sync + 'static) {
        self.shared.update.get_or_init(|| Box::new(update));
    }

    /// Sets a function that the drain's thread calls each time it checks the rings: at least every
    /// [`interval`](RecordOptions::interval), unless it is busy. Only the first call has an effect.
    /// `look` must not wait for anything that waits for the drain.
    pub fn on_pass(&self, look: impl Fn() + Send + Sync + 'static) {
        self.shared.pass.get_or_init(|| Box::new(look));
    }

    /// Returns a counter for events of threads that are not registered.
    #[must_use]
    pub fn loss_counter(&self) -> LossCounter {
        LossCounter(Arc::clone(&self.shared.unregistered))
    }

    /// Records an event of the calling thread. The first event registers the thread under its
    /// [`std::thread`] name. The thread's files are finalized when the thread ends. Its ring is
    /// also freed then, or, once this recording has stopped, when the thread's first event of
    /// another recording registers it there.
    ///
    /// # Errors
    ///
    /// The errors of [`ThreadRecorder::record`]; [`Lost::Event`] if the thread cannot be registered
    /// ([`stop`](Self::stop) returns the error) or its thread-local variables have already been
    /// destroyed.
    #[inline]
    pub fn record(&self, event: &Event) -> Result<u64, Lost> {
        self.with_thread(event.timestamp_ns, |recorder| recorder.record(event))
    }

    /// Like [`record`](Self::record), but with a detail.
    ///
    /// # Errors
    ///
    /// The errors of [`record`](Self::record) and [`ThreadRecorder::record_with_detail`].
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
            // The `RefCell` is already borrowed if a signal handler interrupted this function.
            let mut mine = mine.try_borrow_mut().ok()?;
            let known = mine.iter().position(|mine| mine.recording == number);
            let mine = match known.and_then(|known| mine.get_mut(known)) {
                Some(mine) => mine,
                None => self.register(&mut mine)?,
            };
            mine.recorder.as_mut().map(record)
        });
        recorded.ok().flatten().unwrap_or_else(|| {
            self.shared.unregistered.lose_event(timestamp_ns);
            Err(Lost::Event)
        })
    }

    /// Registers the calling thread. A failed registration is not retried.
    #[cold]
    fn register<'a>(&self, mine: &'a mut Vec<Mine>) -> Option<&'a mut Mine> {
        let is_live = |recorder: &ThreadRecorder| !recorder.is_abandoned();
        mine.retain(|mine| mine.recorder.as_ref().is_some_and(is_live));
        // On some systems, a thread that waits for another one can be cancelled.
        let added = uncancelled(|| self.thread(thread::current().name()));
        mine.push(Mine {
            recording: self.shared.number,
            recorder: added.map_err(|error| self.shared.fail_to_add(error)).ok(),
        });
        mine.last_mut()
    }

    /// Triggers the recording's [window](super::Window) now, and returns the time. Without a
    /// window, everything is recorded anyway. Takes no lock and allocates no memory, so signal
    /// handlers may call it.
    pub fn trigger(&self) -> u64 {
        self.trigger_handle().fire()
    }

    /// Like [`trigger`](Self::trigger), but at a given time on the [`now_ns`](atf::clock::now_ns)
    /// clock. Events in that window that the rings have already discarded count as lost, unless
    /// their thread has ended.
    pub fn trigger_at(&self, timestamp_ns: u64) {
        self.trigger_handle().fire_at(timestamp_ns);
    }

    /// Waits for the triggers fired so far; see [`Trigger::wait`].
    #[must_use]
    pub fn wait_for_triggers(&self, deadline: Duration) -> bool {
        self.trigger_handle().wait(deadline)
    }

    /// Returns a handle that triggers the recording and may outlive it.
    #[must_use]
    pub fn trigger_handle(&self) -> Trigger {
        Trigger(Arc::clone(&self.shared.triggers))
    }

    /// Opens a [window](super::Window) now, without pre-roll, or closes it now, without post-roll.
    /// Does not affect windows of triggers. Takes a lock, so signal handlers must not call it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::AlreadyFinalized`] after the recording was stopped; [`ErrorKind::Forked`].
    pub fn set_window_open(&self, is_open: bool) -> Result<()> {
        let mut state = self.shared.lock_running()?;
        // Read the clock under the lock, so that the drain has not yet decided on later events.
        let change = (is_open, now_ns());
        state.pending.add(|next| next.windows.push(change));
        Ok(())
    }

    /// Makes the drain's thread write the manifest now rather than about a second after a change.
    ///
    /// # Errors
    ///
    /// The recording's first error so far; [`ErrorKind::AlreadyFinalized`] after the recording was
    /// stopped; [`ErrorKind::Forked`].
    pub fn write_manifest(&self) -> Result<()> {
        let mut state = self.shared.lock_running()?;
        let ticket = state.pending.add(|next| next.is_manifest = true);
        self.shared.changed.notify_all();
        let is_missing = |state: &State| !state.pending.are_done(ticket);
        let state = self.shared.wait_for_drain(state, is_missing);
        match &state.error {
            Some(error) => Err(error.clone()),
            None if is_missing(&state) => Err(self.shared.stopped()),
            None => Ok(()),
        }
    }

    /// Passes everything recorded before this call to the operating system. Returns whether that
    /// finished before the deadline.
    ///
    /// # Errors
    ///
    /// The recording's first error so far; [`ErrorKind::AlreadyFinalized`] if the recording was
    /// stopped; [`ErrorKind::Forked`].
    pub fn flush(&self, deadline: Duration) -> Result<bool> {
        let mut state = self.shared.lock_running()?;
        let ticket = state.pending.add(|next| next.is_flush = true);
        self.shared.changed.notify_all();
        let is_missing = |state: &mut State| !state.pending.are_done(ticket) && !state.is_stopping;
        let changed = &self.shared.changed;
        let waited = changed.wait_timeout_while(state, deadline, is_missing);
        let state = waited.unwrap_or_else(PoisonError::into_inner).0;
        let is_flushed = state.pending.are_done(ticket);
        match &state.error {
            Some(error) => Err(error.clone()),
            None if state.is_stopping && !is_flushed => Err(self.shared.stopped()),
            None => Ok(is_flushed),
        }
    }

    /// Stops recording: drains all rings once more and finalizes all threads and the manifest.
    /// Events whose calls have already returned are in the trace. Later events are lost, and their
    /// calls report the loss, except for a thread's last few calls during this one.
    ///
    /// # Errors
    ///
    /// The recording's first error: [`ErrorKind::Io`], the error of a thread that could not be
    /// registered, [`ErrorKind::LimitReached`] if a file cannot count all events, or
    /// [`ErrorKind::ManifestTooLarge`] if the symbols are missing from the manifest because they
    /// would make it too large. The rest of the session is still finalized.
    /// [`ErrorKind::AlreadyFinalized`] if the recording was already stopped; [`ErrorKind::Forked`].
    pub fn stop(&self) -> Result<RecordSummary> {
        self.shared.stop()
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        // `drop` cannot return an error.
        if self.stop().is_err() && self.is_forked() {
            // The drain's thread does not exist in this process, so it can be neither joined nor
            // detached.
            std::mem::forget(self.shared.drain().take());
        }
    }
}

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
