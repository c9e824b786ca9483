//! A thread in a merge.

use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::index::IndexReader;
use crate::session::Problem;
use crate::source::OpenOptions;
use crate::thread::{self, ThreadReader};

/// An open thread and the id of its folder.
#[derive(Debug)]
pub(super) struct Thread {
    process: u32,
    id: u32,
    files: Files,
}

#[derive(Debug)]
pub(super) enum Files {
    /// A single index file.
    Index(IndexReader),
    /// An index file and its folder. The details are checked after the last event.
    InFolder(IndexReader, PathBuf, OpenOptions),
    /// Both files.
    Both(Box<ThreadReader>),
}

impl Thread {
    pub(super) fn new(process: u32, id: u32, files: Files) -> Self {
        Self { process, id, files }
    }

    /// Returns the position of the thread's process among the merged processes.
    pub(super) fn process(&self) -> u32 {
        self.process
    }

    /// Returns the id in the folder's name.
    pub(super) fn id(&self) -> u32 {
        self.id
    }

    pub(super) fn index(&self) -> &IndexReader {
        match &self.files {
            Files::Index(index) | Files::InFolder(index, ..) => index,
            Files::Both(thread) => thread.index(),
        }
    }

    /// Returns whether the thread's timestamps never decrease. Only the first call reads all
    /// events.
    pub(super) fn is_ordered(&self) -> Result<bool> {
        Ok(self.index().scan()?.is_ordered())
    }

    /// Returns whether the thread's checksum has not yet been compared with its events.
    pub(super) fn is_unverified(&self) -> bool {
        self.index().known_checksum().is_none()
    }

    /// Wraps an error as a problem of this thread.
    pub(super) fn problem(&self, error: Error) -> Problem {
        Problem {
            process: self.process,
            thread: Some(self.id),
            error,
        }
    }

    /// Returns the known problems of the thread's events and links.
    pub(super) fn problems(&self) -> Vec<Problem> {
        let errors = match &self.files {
            Files::Index(index) => index.problems(),
            Files::InFolder(index, folder, options) => {
                let mut problems = index.problems();
                problems.extend(thread::problems_beside(index, folder, *options));
                problems
            }
            Files::Both(thread) => thread.problems().unwrap_or_else(|error| vec![error]),
        };
        errors
            .into_iter()
            .map(|error| self.problem(error))
            .collect()
    }
}
