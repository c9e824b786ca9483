//! A traced thread's part of a recording.

use std::sync::Arc;
use std::time::Duration;

use atf::write::{Detail, Event, Link, ThreadSummary, ThreadWriter};
use atf::{Error, ErrorKind, EventKind, Result};

use super::losses::Losses;
use super::shared::Shared;
use super::{Capacity, Lost, Recorder, sleep};
use crate::sys::{Holder, InUse, Revoker, revocable};

/// How many times to try to get a thread's writer, or a lock at the end of the process.
pub(super) const ATTEMPTS: u32 = 200;
/// The time between two attempts.
pub(super) const WAITING: Duration = Duration::from_millis(1);

/// A recorder for the events of one thread of a [`Recording`](super::Recording). Dropping it
/// finalizes the thread's files.
#[derive(Debug)]
pub struct ThreadRecorder {
    thread_id: u32,
    lane: Lane,
}

#[derive(Debug)]
enum Lane {
    Ring(Recorder),
    Direct(DirectRecorder),
}

impl ThreadRecorder {
    pub(super) fn with_ring(thread_id: u32, recorder: Recorder) -> Self {
        let lane = Lane::Ring(recorder);
        Self { thread_id, lane }
    }

    /// Creates the recorder of a thread without a ring, and gives the recording its handle.
    pub(super) fn direct(thread_id: u32, writer: ThreadWriter, shared: &Arc<Shared>) -> Self {
        let (holder, writer) = revocable(writer);
        let losses = Arc::new(Losses::new());
        let direct = Arc::new(Direct { writer, losses });
        let mut state = shared.lock();
        let losses = Arc::clone(&direct.losses);
        state.losses.threads.push((thread_id, losses));
        state.direct.insert(thread_id, Arc::clone(&direct));
        let lane = Lane::Direct(DirectRecorder {
            thread_id,
            writer: holder,
            direct,
            shared: Arc::clone(shared),
        });
        Self { thread_id, lane }
    }

    /// Returns the thread's id, which is part of its folder's name.
    #[must_use]
    pub fn thread_id(&self) -> u32 {
        self.thread_id
    }

    /// Records an event and returns its `index_seq`.
    ///
    /// # Errors
    ///
    /// Those of [`Recorder::record`]. Without a ring, [`Lost::Event`] if the file cannot be
    /// written; [`Recording::stop`](super::Recording::stop) returns the error.
    #[inline]
    pub fn record(&mut self, event: &Event) -> Result<u64, Lost> {
        // Pass numbers, which fit into registers, to small functions. If the event were passed in
        // memory, the processor would load several numbers at once that were stored one by one, and
        // the load would wait for these stores.
        let (now, function_id) = (event.timestamp_ns, event.function_id);
        let (kind, depth) = (event.event_kind, event.call_depth);
        match &mut self.lane {
            Lane::Ring(recorder) => recorder.record_numbers(now, function_id, kind, depth),
            Lane::Direct(recorder) => recorder.record(now, function_id, kind, depth),
        }
    }

    /// Records an event with its detail, copying the payload.
    ///
    /// # Errors
    ///
    /// The errors of [`record`](Self::record) and [`Recorder::record_with_detail`].
    pub fn record_with_detail(&mut self, event: &Event, detail: &Detail<'_>) -> Result<Link, Lost> {
        match &mut self.lane {
            Lane::Ring(recorder) => recorder.record_with_detail(event, detail),
            Lane::Direct(recorder) => recorder.write(event.timestamp_ns, |writer| {
                writer.write_with_detail(event, detail)
            }),
        }
    }

    /// Returns the capacity of the thread's ring, which is smaller than the full one if the rings
    /// of all threads would exceed [`ring_memory`](super::RecordOptions::ring_memory). Returns
    /// `None` if the thread has no ring.
    #[must_use]
    pub fn capacity(&self) -> Option<Capacity> {
        match &self.lane {
            Lane::Ring(recorder) => Some(recorder.capacity()),
            Lane::Direct(_) => None,
        }
    }

    /// Returns a counter for events that the caller itself could not record.
    #[must_use]
    pub fn loss_counter(&self) -> LossCounter {
        LossCounter(match &self.lane {
            Lane::Ring(recorder) => recorder.losses(),
            Lane::Direct(recorder) => Arc::clone(&recorder.direct.losses),
        })
    }

    /// Returns whether the recording has stopped or failed, in which case all later events are
    /// lost.
    #[must_use]
    pub fn is_abandoned(&self) -> bool {
        match &self.lane {
            Lane::Ring(recorder) => recorder.is_abandoned(),
            Lane::Direct(recorder) => recorder.direct.writer.is_revoked(),
        }
    }
}

/// A counter for events that never reached a thread's recorder, for example because a signal
/// handler interrupted it. The manifest includes them in the thread's losses.
#[derive(Debug, Clone)]
pub struct LossCounter(pub(super) Arc<Losses>);

impl LossCounter {
    /// Counts an event lost at `timestamp_ns`.
    pub fn lose_event(&self, timestamp_ns: u64) {
        self.0.lose_event(timestamp_ns);
    }
}

/// The recording's handle to a thread that writes its files itself.
#[derive(Debug)]
pub(super) struct Direct {
    writer: Revoker<ThreadWriter>,
    losses: Arc<Losses>,
}

impl Direct {
    /// Finalizes the files, unless they already are. Later events are lost.
    ///
    /// The traced thread uses the writer for one event at a time. If it still does so after many
    /// attempts, it is the calling thread, interrupted by a signal handler that ends the program.
    pub(super) fn finalize(&self) -> Option<Result<ThreadSummary>> {
        for _ in 0..ATTEMPTS {
            match self.writer.revoke() {
                Ok(writer) => return writer.map(|mut writer| writer.finalize()),
                Err(InUse) => sleep(WAITING),
            }
        }
        None
    }
}

/// The traced thread's counterpart to [`Direct`].
#[derive(Debug)]
struct DirectRecorder {
    thread_id: u32,
    writer: Holder<ThreadWriter>,
    direct: Arc<Direct>,
    shared: Arc<Shared>,
}

impl DirectRecorder {
    #[inline(never)]
    fn record(
        &mut self,
        timestamp_ns: u64,
        function_id: u64,
        event_kind: EventKind,
        call_depth: u32,
    ) -> Result<u64, Lost> {
        let event = Event::new(timestamp_ns, function_id, event_kind, call_depth);
        self.write(timestamp_ns, |writer| writer.write(&event))
    }

    /// Writes an event, unless the recording was stopped, or this is a forked child, which shares
    /// its parent's buffers.
    #[inline]
    fn write<T>(
        &mut self,
        timestamp_ns: u64,
        write: impl FnOnce(&mut ThreadWriter) -> Result<T>,
    ) -> Result<T, Lost> {
        if self.shared.origin.is_forked() {
            return Err(self.lose(timestamp_ns));
        }
        match self.writer.with(write) {
            Some(written) => written.map_err(|error| self.lose_by(timestamp_ns, error)),
            None => Err(self.lose(timestamp_ns)),
        }
    }

    #[cold]
    fn lose(&self, timestamp_ns: u64) -> Lost {
        self.direct.losses.lose_event(timestamp_ns);
        Lost::Event
    }

    #[cold]
    fn lose_by(&self, timestamp_ns: u64, error: Error) -> Lost {
        let lost = self.lose(timestamp_ns);
        match error.kind() {
            ErrorKind::TimeGoesBack { .. } | ErrorKind::OutOfRange { .. } => Lost::Refused,
            _ => {
                self.shared.fail(error);
                lost
            }
        }
    }
}

impl Drop for DirectRecorder {
    fn drop(&mut self) {
        self.shared.end_direct(self.thread_id);
    }
}
