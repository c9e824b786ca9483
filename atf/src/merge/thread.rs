//! A thread in a merge.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::index::IndexReader;
use crate::session::{Problem, ThreadEntry};

/// An open thread and the id of its folder.
#[derive(Debug)]
pub(super) struct Thread {
    /// The number of the thread, which all its segments share.
    pub(super) number: usize,
    /// The position of the session among those of all processes.
    pub(super) session: u32,
    /// The id in the folder's name.
    pub(super) id: u32,
    pub(super) index: Arc<IndexReader>,
    /// The thread's folder; `None` for a single index file. The details are checked after the last
    /// event.
    pub(super) folder: Option<ThreadEntry>,
}

impl Thread {
    /// Returns whether the thread's timestamps never decrease. Only the first call reads all
    /// events.
    pub(super) fn is_ordered(&self) -> Result<bool> {
        Ok(self.index.scan()?.is_ordered())
    }

    /// Returns whether the thread's checksum has not yet been compared with its events.
    pub(super) fn is_unverified(&self) -> bool {
        self.index.known_checksum().is_none()
    }

    /// Wraps an error as a problem of this thread.
    pub(super) fn problem(&self, error: Error) -> Problem {
        Problem {
            session: self.session,
            thread: Some(self.id),
            error,
        }
    }

    /// Returns the known problems of the thread's events and links.
    pub(super) fn problems(&self) -> Vec<Problem> {
        let beside = |entry: &ThreadEntry| entry.problems_beside(&self.index);
        let beside = self.folder.iter().flat_map(beside);
        let errors = self.index.problems().into_iter().chain(beside);
        errors.map(|error| self.problem(error)).collect()
    }
}
