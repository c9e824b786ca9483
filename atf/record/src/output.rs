//! The files of a thread that records through a ring.

use std::sync::Arc;

use atf::write::{SessionWriter, ThreadWriter};
use atf::{Error, Result};

/// Where a drain sends events.
pub(super) trait Target {
    fn writer(&mut self) -> Result<&mut ThreadWriter>;
}

impl Target for ThreadWriter {
    #[inline]
    fn writer(&mut self) -> Result<&mut ThreadWriter> {
        Ok(self)
    }
}

/// A thread's output in a session. A flight recorder creates the files when a trigger first
/// requests one of the thread's events, so a thread without requested events needs neither files
/// nor buffers.
#[derive(Debug)]
pub(super) struct Output {
    session: Arc<SessionWriter>,
    thread_id: u32,
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

    pub(super) fn thread_id(&self) -> u32 {
        self.thread_id
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
