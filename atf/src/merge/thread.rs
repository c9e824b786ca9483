//! A thread that takes part in a merge.

use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::index::IndexReader;
use crate::session::Problem;
use crate::source::OpenOptions;
use crate::thread::{self, ThreadReader};

/// An open thread, under the id of its folder.
#[derive(Debug)]
pub(super) struct Thread {
    process: u32,
    id: u32,
    files: Files,
}

/// The files of a thread.
#[derive(Debug)]
pub(super) enum Files {
    /// An index file by itself.
    Index(IndexReader),
    /// An index file, and the folder that it is in: details are looked at after its last event.
    InFolder(IndexReader, PathBuf, OpenOptions),
    /// Both files.
    Both(Box<ThreadReader>),
}

impl Thread {
    pub(super) fn new(process: u32, id: u32, files: Files) -> Self {
        Self { process, id, files }
    }

    /// The position of its process among those that are merged.
    pub(super) fn process(&self) -> u32 {
        self.process
    }

    /// The id in the folder's name.
    pub(super) fn id(&self) -> u32 {
        self.id
    }

    pub(super) fn index(&self) -> &IndexReader {
        match &self.files {
            Files::Index(index) | Files::InFolder(index, ..) => index,
            Files::Both(thread) => thread.index(),
        }
    }

    /// Whether no event has a timestamp below that of the one before it. The first call reads all
    /// events, later ones know.
    pub(super) fn is_ordered(&self) -> Result<bool> {
        Ok(self.index().scan()?.is_ordered())
    }

    /// Whether its events have a checksum that nothing has compared with them yet.
    pub(super) fn is_unverified(&self) -> bool {
        self.index().known_checksum().is_none()
    }

    /// An error as a problem of this thread.
    pub(super) fn problem(&self, error: Error) -> Problem {
        Problem {
            process: self.process,
            thread: Some(self.id),
            error,
        }
    }

    /// What is known to be wrong with its events and their links.
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
