//! New threads of a recording.

use std::sync::Arc;

use super::{Drainer, Ring};
use crate::error::Result;
use crate::record::thread::Direct;
use crate::record::{ThreadRecorder, channel_for};
use crate::write::ThreadWriter;

/// The largest manifest that is rewritten for each new thread, in bytes: about a thousand threads.
/// A larger one is written about once a second.
const MOST_LISTED_AT_ONCE: usize = 64 << 10;

impl Drainer {
    /// Creates the threads that callers are waiting for.
    ///
    /// If the manifest cannot list them, as on a full disk, their files are deleted: every thread's
    /// folder must be in the manifest (S0, S1).
    pub(super) fn add_threads(&mut self, wanted: &[u32]) {
        // Their names may have been set in an earlier segment.
        let names = wanted.iter().copied();
        self.session.take_names(&self.shared.session, names);
        let created = wanted
            .iter()
            .map(|thread_id| self.session.thread(*thread_id));
        let writers: Vec<_> = created.collect();
        let lists_at_once = self.manifest_size <= MOST_LISTED_AT_ONCE || !self.is_manifest_stored;
        let listed = if lists_at_once && writers.iter().any(Result::is_ok) {
            self.store_manifest()
        } else {
            Ok(())
        };
        for (thread_id, writer) in wanted.iter().zip(writers) {
            let made = match (writer, &listed) {
                (Ok(writer), Ok(())) => self.connect(*thread_id, writer),
                (Ok(writer), Err(error)) => {
                    drop(writer);
                    self.session.withdraw(*thread_id);
                    Err(error.clone())
                }
                (Err(error), _) => Err(error),
            };
            let mut state = self.shared.lock();
            if made.is_err() {
                state.live = state.live.saturating_sub(1);
            }
            state.made.push((*thread_id, made));
        }
        self.shared.changed.notify_all();
    }

    /// Connects a thread's recorder to its writer, through a ring unless the session survives a
    /// kill.
    fn connect(&mut self, thread_id: u32, writer: ThreadWriter) -> Result<ThreadRecorder> {
        let shared = &self.shared;
        if self.session.options().survive_kill {
            let direct = Arc::new(Direct::new(writer));
            let mut state = shared.lock();
            state.losses.push((thread_id, direct.losses()));
            state.direct.push(Arc::clone(&direct));
            let shared = Arc::clone(shared);
            return Ok(ThreadRecorder::direct(thread_id, direct, shared));
        }
        // The capacity was checked at the start.
        let options = &shared.options;
        let is_judged = options.window.is_some();
        let (recorder, drain) = channel_for(options.capacity, options.overflow, is_judged)?;
        shared.lock().losses.push((thread_id, drain.losses()));
        self.rings.push(Ring {
            thread_id,
            drain,
            writer,
            ended_ns: None,
        });
        Ok(ThreadRecorder::with_ring(thread_id, recorder))
    }
}
