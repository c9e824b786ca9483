//! The threads that a table is read from.

use atf::session::{SessionReader, ThreadEntry};

use crate::options::Options;

/// A session's selected threads, one after another.
pub(crate) struct Queue {
    reader: SessionReader,
    next: usize,
    options: Options,
}

impl Queue {
    pub(crate) fn new(reader: SessionReader, options: Options) -> Self {
        Self {
            reader,
            next: 0,
            options,
        }
    }

    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    pub(crate) fn reader(&self) -> &SessionReader {
        &self.reader
    }

    /// Returns the next selected thread.
    pub(crate) fn next(&mut self) -> Option<ThreadEntry> {
        loop {
            let entry = self.reader.threads().get(self.next)?;
            self.next = self.next.saturating_add(1);
            if self.options.selects(entry.id()) {
                return Some(entry.clone());
            }
        }
    }
}
