//! A ring and the files that it is drained into.

use std::sync::Arc;

use atf::write::{SessionWriter, ThreadWriter};
use atf::{Error, Result};

use crate::Drain;
use crate::drain::Target;
use crate::requests::Requests;
use crate::shared::Shared;
use crate::window::Windows;

/// A ring and the files that it is drained into.
#[derive(Debug)]
pub(super) struct Ring {
    pub(super) drain: Drain,
    pub(super) output: Output,
    /// Whether the ring counts towards `max_threads`.
    has_place: bool,
}

/// The state of a ring after it was drained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Drained,
    /// There may be much more to drain.
    Behind,
    /// The thread has ended, but a trigger may still request its events.
    Ended,
    Finished,
}

impl Ring {
    pub(super) fn new(drain: Drain, output: Output) -> Self {
        Self {
            drain,
            output,
            has_place: true,
        }
    }

    pub(super) fn thread_id(&self) -> u32 {
        self.output.thread_id
    }

    /// Returns the ring's memory size in bytes.
    pub(super) fn size(&self) -> usize {
        let size = size_of::<Self>().saturating_add(self.drain.size());
        size.saturating_add(self.output.buffer_size())
    }

    /// Drains the ring once.
    pub(super) fn step(&mut self, requests: &Requests, windows: Option<&Windows>) -> Result<Step> {
        if requests.is_last {
            self.drain.close();
        }
        // Check this before draining: once the recorder has been dropped, all of its events are
        // visible.
        let has_ended = self.drain.is_abandoned();
        let drained = self.drain.drain_windows(&mut self.output, windows)?;
        if requests.is_flush {
            self.output.flush()?;
        }
        if requests.is_last || self.drain.is_finished() {
            return Ok(Step::Finished);
        }
        if has_ended && windows.is_some() {
            return Ok(Step::Ended);
        }
        // A ring with windows holds events for later triggers.
        let is_behind = match windows {
            None => drained.events > 0,
            Some(_) => self.drain.is_crowded(),
        };
        Ok(if is_behind {
            Step::Behind
        } else {
            Step::Drained
        })
    }

    /// Frees the resources that only a live thread needs: room for more events, and its slot in
    /// `max_threads` unless its files are open.
    pub(super) fn end(&mut self, shared: &Shared) {
        self.drain.compact();
        if self.output.existing().is_none() {
            self.free_place(shared);
        }
    }

    /// Finalizes the thread's files. Counts events left in the ring, and any recorded later, as
    /// lost.
    pub(super) fn close(&mut self, shared: &Shared, outcome: Result<()>, needs_files: bool) {
        let finalized = outcome.and_then(|()| {
            // The manifest lists the losses of threads with files.
            if needs_files || self.drain.has_losses() {
                self.output.writer()?;
            }
            self.output.finalize()
        });
        if let Err(error) = finalized {
            shared.fail(error);
        }
        self.count_unwritten();
        // Do this after the files are closed, so that it includes events recorded in the meantime.
        self.drain.give_up();
        self.output.forget();
        self.free_place(shared);
    }

    /// Counts as lost the events that did not reach the files because a write failed.
    pub(super) fn count_unwritten(&self) {
        let writer = self.output.existing();
        if let Some(loss) = writer.and_then(ThreadWriter::lost_events) {
            self.drain.losses().events.add_all(&loss);
        }
    }

    fn free_place(&mut self, shared: &Shared) {
        if std::mem::take(&mut self.has_place) {
            shared.lock().end_thread();
        }
    }
}

/// A thread's output in a session. A flight recorder creates the files when a trigger first
/// requests one of the thread's events, so a thread without requested events needs neither files
/// nor buffers.
#[derive(Debug)]
pub(super) struct Output {
    session: Arc<SessionWriter>,
    pub(super) thread_id: u32,
    writer: Option<ThreadWriter>,
}

impl Target for Output {
    #[inline]
    fn writer(&mut self) -> Result<&mut ThreadWriter> {
        match &mut self.writer {
            Some(writer) => Ok(writer),
            none => Ok(none.insert(self.session.thread(self.thread_id)?)),
        }
    }
}

impl Output {
    /// Returns an output without files.
    pub(super) fn new(session: &Arc<SessionWriter>, thread_id: u32) -> Self {
        Self {
            session: Arc::clone(session),
            thread_id,
            writer: None,
        }
    }

    /// Returns the writer, if the files exist.
    pub(super) fn existing(&self) -> Option<&ThreadWriter> {
        self.writer.as_ref()
    }

    /// Returns the writer, creating the files if necessary.
    pub(super) fn into_writer(mut self) -> Result<ThreadWriter> {
        self.writer()?;
        let writer = self.writer.take();
        writer.ok_or_else(|| Error::internal("the writer was just created"))
    }

    /// Returns the size of the writer's buffer in bytes.
    pub(super) fn buffer_size(&self) -> usize {
        let buffer = |_| self.session.options().buffer_capacity();
        self.writer.as_ref().map_or(0, buffer)
    }

    /// Forgets the thread's name if the thread has no files.
    pub(super) fn forget(&self) {
        if self.writer.is_none() {
            self.session.forget(self.thread_id);
        }
    }

    /// Passes the buffered events to the operating system.
    pub(super) fn flush(&mut self) -> Result<()> {
        self.writer.as_mut().map_or(Ok(()), ThreadWriter::flush)
    }

    /// Finalizes the files, if they exist.
    pub(super) fn finalize(&mut self) -> Result<()> {
        let finalized = self.writer.as_mut().map(ThreadWriter::finalize);
        finalized.map_or(Ok(()), |finalized| finalized.map(drop))
    }
}
