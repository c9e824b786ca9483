//! Registers new threads of a recording.

use std::sync::Arc;

use atf::{Error, ErrorKind, Result};

use super::{Drainer, Output, Ring};
use crate::drain::Target as _;
use crate::thread::Direct;
use crate::{Capacity, ThreadRecorder, channel_for, ring_size};

/// While the manifest is smaller than this many bytes (about a thousand threads), it is rewritten
/// for each new thread. A larger manifest is written about once per second.
pub(super) const MOST_LISTED_AT_ONCE: usize = 64 << 10;

impl Drainer {
    /// Creates the threads that callers are waiting for.
    ///
    /// If the manifest cannot list them, for example on a full disk, deletes their files: every
    /// thread's folder must be in the manifest (S0, S1).
    pub(super) fn add_threads(&mut self, wanted: &[u32]) {
        // The thread names may have been set in an earlier segment.
        let names = wanted.iter().copied();
        self.session.take_names(&self.shared.session, names);
        let is_flight = self.is_flight();
        let mut sizes = RingSizes::new(self);
        let created = wanted.iter().map(|thread_id| {
            let capacity = sizes.next(self)?;
            let mut output = Output::new(&self.session, *thread_id);
            if !is_flight {
                output.writer()?;
            }
            Ok((output, capacity))
        });
        let outputs: Vec<Result<_>> = created.collect();
        let lists_at_once = self.manifest_size <= MOST_LISTED_AT_ONCE || !self.is_manifest_stored;
        let listed = if lists_at_once && !is_flight && outputs.iter().any(Result::is_ok) {
            self.store_manifest()
        } else {
            Ok(())
        };
        for (thread_id, output) in wanted.iter().zip(outputs) {
            let made = match (output, &listed) {
                (Ok((output, capacity)), Ok(())) => self.connect(output, capacity),
                (Ok((output, _)), Err(error)) => {
                    drop(output);
                    self.session.withdraw(*thread_id);
                    Err(error.clone())
                }
                (Err(error), _) => Err(error),
            };
            if made.is_err() {
                self.shared.session.forget(*thread_id);
                self.session.forget(*thread_id);
            }
            let mut state = self.shared.lock();
            if made.is_err() {
                state.end_thread();
            }
            state.made.push((*thread_id, made));
        }
        self.updates.hurry();
        self.shared.changed.notify_all();
    }

    /// Connects a thread's recorder to the thread's files, through a ring unless the session
    /// survives a kill.
    fn connect(&mut self, output: Output, mut capacity: Capacity) -> Result<ThreadRecorder> {
        let (shared, thread_id) = (&self.shared, output.thread_id());
        if self.session.options().survive_kill {
            let (writer, direct) = Direct::new(thread_id, output.into_writer()?);
            let direct = Arc::new(direct);
            let mut state = shared.lock();
            state.losses.threads.push((thread_id, direct.losses()));
            state.direct.push(Arc::clone(&direct));
            let shared = Arc::clone(shared);
            return Ok(ThreadRecorder::direct(thread_id, writer, direct, shared));
        }
        // The capacity was checked when the recording started.
        let options = &shared.options;
        let is_judged = options.window.is_some();
        let (mut recorder, mut drain) = loop {
            match channel_for(capacity, options.overflow, is_judged) {
                Ok(made) => break made,
                // The system has no memory for this ring, so try one of half the capacity.
                Err(_) if !capacity.is_least(options.capacity) => {
                    capacity = capacity.half(options.capacity);
                }
                Err(error) => {
                    drop(output);
                    self.session.withdraw(thread_id);
                    return Err(error.with_path(Some(self.session.path())));
                }
            }
        };
        // A window gets half of a ring.
        drain.wanted = options.capacity.events / 2;
        let mut state = shared.lock();
        state.losses.threads.push((thread_id, drain.losses()));
        let is_smaller = capacity != options.capacity;
        state.smaller_rings = state.smaller_rings.saturating_add(is_smaller.into());
        drop(state);
        self.rings.push(Ring::new(drain, output));
        recorder.drain = Arc::clone(&shared.watched);
        Ok(ThreadRecorder::with_ring(thread_id, recorder))
    }
}

/// The number of rings so far, and their total memory.
struct RingSizes {
    count: usize,
    taken: usize,
}

impl RingSizes {
    fn new(drainer: &Drainer) -> Self {
        let is_judged = drainer.windows.is_some();
        let size = |ring: &Ring| ring_size(ring.drain.capacity(), is_judged);
        let sizes = drainer.rings.iter().map(size);
        Self {
            count: drainer.rings.len(),
            taken: sizes.fold(0, usize::saturating_add),
        }
    }

    /// Returns the capacity of the next thread's ring, and counts the ring. Without rings, the
    /// capacity is meaningless.
    fn next(&mut self, drainer: &Drainer) -> Result<Capacity> {
        let (options, session) = (&drainer.shared.options, &drainer.session);
        if session.options().survive_kill {
            return Ok(options.capacity);
        }
        let Some(capacity) = options.next_capacity(self.count, self.taken) else {
            let limit = options.ring_memory as u64;
            let error = Error::new(ErrorKind::LimitReached { limit });
            let error = error.with_field("ring_memory");
            return Err(error.with_path(Some(session.path())));
        };
        let size = ring_size(capacity, drainer.windows.is_some());
        self.count = self.count.saturating_add(1);
        self.taken = self.taken.saturating_add(size);
        Ok(capacity)
    }
}
