//! A thread of a process, over all segments.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::times::on_clock;
use crate::clock::MediaClock;
use crate::error::{Error, Result};
use crate::files::INDEX_FILE;
use crate::index::IndexReader;
use crate::manifest::{Losses, ManifestThread};
use crate::session::ThreadEntry;
use crate::thread::ThreadReader;

/// A thread of a [`Process`](super::Process): its files, in the order of the segments.
#[derive(Debug, Clone)]
pub struct Thread<'p> {
    /// The clock of a recording, if times are converted to it.
    clock: Option<&'p MediaClock>,
    id: u32,
    files: Vec<ThreadFiles<'p>>,
}

/// A thread's files in one segment.
#[derive(Debug, Clone, Copy)]
pub struct ThreadFiles<'p> {
    pub(super) session: usize,
    pub(super) position: usize,
    pub(super) place: Place<'p>,
    pub(super) listed: Option<&'p ManifestThread>,
    pub(super) is_after_gap: bool,
}

/// A thread's folder, or an index file that was opened on its own.
#[derive(Debug, Clone)]
pub(crate) enum Files {
    Folder(ThreadEntry),
    File(Arc<IndexReader>),
}

/// A reference to [`Files`].
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place<'p> {
    Folder(&'p ThreadEntry),
    File(&'p Arc<IndexReader>),
}

impl Files {
    pub(super) const fn place(&self) -> Place<'_> {
        match self {
            Self::Folder(entry) => Place::Folder(entry),
            Self::File(index) => Place::File(index),
        }
    }
}

impl Place<'_> {
    pub(crate) fn to_files(self) -> Files {
        match self {
            Self::Folder(entry) => Files::Folder(entry.clone()),
            Self::File(index) => Files::File(Arc::clone(index)),
        }
    }
}

impl<'p> Thread<'p> {
    pub(super) fn new(clock: Option<&'p MediaClock>, first: ThreadFiles<'p>) -> Self {
        let id = match first.place {
            Place::Folder(entry) => entry.id(),
            Place::File(index) => index.header().thread_id,
        };
        let files = vec![ThreadFiles {
            is_after_gap: false,
            ..first
        }];
        Self { clock, id, files }
    }

    /// Adds the files of the next segment that has the thread.
    pub(super) fn continue_in(&mut self, mut next: ThreadFiles<'p>) {
        let before = self.files.last().map(|before| before.session);
        next.is_after_gap |= before.is_some_and(|before| before.saturating_add(1) != next.session);
        self.files.push(next);
    }

    /// Returns the id in the names of the thread's folders; for a single file, the id in its
    /// header.
    #[must_use]
    pub const fn id(&self) -> u32 {
        self.id
    }

    /// Returns the thread's files in each segment, in order.
    #[must_use]
    pub fn files(&self) -> &[ThreadFiles<'p>] {
        &self.files
    }

    /// Returns the thread's entries in the manifests, in the order of the segments.
    pub fn listed(&self) -> impl DoubleEndedIterator<Item = &'p ManifestThread> {
        self.files.iter().filter_map(|files| files.listed)
    }

    /// Returns the thread's name from the last manifest that contains one.
    #[must_use]
    pub fn name(&self) -> Option<&'p str> {
        let mut listed = self.listed().rev();
        listed.find_map(|listed| listed.name.as_deref())
    }

    /// Converts a timestamp to the clock of the thread's process.
    #[must_use]
    pub fn time(&self, timestamp_ns: u64) -> u64 {
        on_clock(self.clock, timestamp_ns)
    }

    /// Returns what the tracer lost in the thread according to the manifests, on the process's clock.
    #[must_use]
    pub fn losses(&self) -> Losses {
        let all = self.listed().map(ManifestThread::losses);
        let all = all.fold(Losses::default(), Losses::plus);
        all.with_times(|ns| self.time(ns))
    }
}

impl<'p> ThreadFiles<'p> {
    pub(super) const fn new(place: Place<'p>, listed: Option<&'p ManifestThread>) -> Self {
        Self {
            session: 0,
            position: 0,
            place,
            listed,
            is_after_gap: false,
        }
    }

    pub(crate) const fn place(&self) -> Place<'p> {
        self.place
    }

    /// Returns the position of the session among the process's sessions.
    #[must_use]
    pub const fn session(&self) -> usize {
        self.session
    }

    /// Returns the thread's position among the session's threads.
    #[must_use]
    pub const fn position(&self) -> usize {
        self.position
    }

    /// Returns the thread's folder; `None` for a single index file.
    #[must_use]
    pub fn entry(&self) -> Option<&'p ThreadEntry> {
        match self.place {
            Place::Folder(entry) => Some(entry),
            Place::File(_) => None,
        }
    }

    /// Returns the thread's entry in the segment's manifest.
    #[must_use]
    pub const fn listed(&self) -> Option<&'p ManifestThread> {
        self.listed
    }

    /// Returns whether a segment, or the thread's folder in one, is missing between the previous
    /// files and these.
    #[must_use]
    pub const fn is_after_gap(&self) -> bool {
        self.is_after_gap
    }

    /// Returns the folder's path; `None` for a single index file.
    #[must_use]
    pub fn path(&self) -> Option<&'p Path> {
        self.entry().map(ThreadEntry::path)
    }

    /// Returns the path of the index file; `None` if it was not opened by path.
    #[must_use]
    pub fn index_path(&self) -> Option<PathBuf> {
        match self.place {
            Place::Folder(entry) => Some(entry.path().join(INDEX_FILE)),
            Place::File(index) => index.input.path().map(Path::to_path_buf),
        }
    }

    /// Opens only the index, or returns a file that is already open.
    ///
    /// # Errors
    ///
    /// The errors of [`ThreadEntry::open_index`].
    pub fn open_index(&self) -> Result<Arc<IndexReader>> {
        match self.place {
            Place::Folder(entry) => entry.open_index().map(Arc::new),
            Place::File(index) => Ok(Arc::clone(index)),
        }
    }

    /// Opens both files; returns `None` for a single index file.
    ///
    /// # Errors
    ///
    /// The errors of [`ThreadEntry::open`].
    pub fn open(&self) -> Result<Option<ThreadReader>> {
        self.entry().map(ThreadEntry::open).transpose()
    }

    /// Returns the problems with the thread's details and with the links to them. `index` is a
    /// reader that has read all events.
    #[must_use]
    pub fn problems_beside(&self, index: &IndexReader) -> Vec<Error> {
        let entry = self.entry().into_iter();
        entry
            .flat_map(|entry| entry.problems_beside(index))
            .collect()
    }
}
