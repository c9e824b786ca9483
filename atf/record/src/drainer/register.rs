//! Registers new threads of a recording.

use std::sync::Arc;

use atf::{Error, ErrorKind, Result};

use super::{Drainer, Output, Ring};
use crate::drain::Target as _;
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
        let rings = self.rings.iter().map(|ring| ring.drain.capacity());
        let mut rings: Vec<_> = rings.collect();
        let created = wanted.iter().map(|thread_id| {
            let capacity = self.next_capacity(&mut rings)?;
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
            state.made.insert(*thread_id, made);
        }
        self.updates.hurry();
        self.shared.changed.notify_all();
    }

    /// Connects a thread's recorder to the thread's files, through a ring unless the session
    /// survives a kill.
    fn connect(&mut self, output: Output, mut capacity: Capacity) -> Result<ThreadRecorder> {
        let (shared, thread_id) = (&self.shared, output.thread_id);
        if self.session.options().survive_kill {
            let writer = output.into_writer()?;
            return Ok(ThreadRecorder::direct(thread_id, writer, shared));
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

    /// Returns the capacity of a new thread's ring, and adds it to those of all `rings`. Without
    /// rings, the capacity is meaningless.
    fn next_capacity(&self, rings: &mut Vec<Capacity>) -> Result<Capacity> {
        let options = &self.shared.options;
        if self.session.options().survive_kill {
            return Ok(options.capacity);
        }
        let is_judged = options.window.is_some();
        let sizes = rings.iter().map(|ring| ring_size(*ring, is_judged));
        let taken = sizes.fold(0, usize::saturating_add);
        let Some(capacity) = options.next_capacity(rings.len(), taken) else {
            let limit = options.ring_memory as u64;
            let error = Error::new(ErrorKind::LimitReached { limit });
            let error = error.with_field("ring_memory");
            return Err(error.with_path(Some(self.session.path())));
        };
        rings.push(capacity);
        Ok(capacity)
    }
}
