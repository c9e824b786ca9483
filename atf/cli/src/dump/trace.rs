//! The threads of a trace, however it was named.

use std::path::{Path, PathBuf};

use atf::Result;
use atf::index::IndexReader;
use atf::merge::Merge;
use atf::session::{SessionReader, ThreadEntry};
use atf::thread::ThreadReader;

use crate::output::Failure;

/// A file, a thread's folder, or a session.
#[derive(Debug)]
pub(crate) enum Trace {
    /// An index file by itself.
    File(PathBuf),
    /// A thread's folder by itself.
    Folder(PathBuf),
    /// A session.
    Session(Box<SessionReader>),
}

/// A thread of a trace, which may be unreadable.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ThreadPlace {
    /// The id in the folder's name, or else in the header.
    pub(crate) id: u32,
    /// Its place among the trace's threads.
    pub(crate) position: usize,
}

impl Trace {
    /// A session, without opening its threads.
    pub(crate) fn of_session(path: &Path) -> Result<Self> {
        Ok(Self::Session(Box::new(SessionReader::open(path)?)))
    }

    /// The threads with these ids; all where there is none.
    pub(crate) fn threads(&self, ids: &[u32]) -> Result<Vec<ThreadPlace>, Failure> {
        let all: Vec<_> = match self {
            Self::File(_) | Self::Folder(_) => vec![self.index(0)?.header().thread_id],
            Self::Session(session) => session.threads().iter().map(ThreadEntry::id).collect(),
        };
        if let Some(id) = ids.iter().find(|id| !all.contains(id)) {
            return Err(Failure::Usage(format!("there is no thread {id}")));
        }
        let places = all.into_iter().enumerate();
        let places = places.map(|(position, id)| ThreadPlace { id, position });
        let is_wanted = |place: &ThreadPlace| ids.is_empty() || ids.contains(&place.id);
        Ok(places.filter(is_wanted).collect())
    }

    /// The events of these threads in one order, not yet opened where it is a session's.
    pub(crate) fn merge(&self, threads: &[ThreadPlace]) -> Result<Merge> {
        Ok(match self {
            Self::Session(session) => session.merge().threads(threads.iter().map(|t| t.id)),
            Self::File(_) | Self::Folder(_) => {
                let index = self.index(0)?;
                Merge::new([(index.header().thread_id, index)])
            }
        })
    }

    /// The events of a thread; of a session's without its details, to find which takes a pass over
    /// them.
    pub(crate) fn index(&self, position: usize) -> Result<IndexReader> {
        match self {
            Self::File(path) => IndexReader::open(path),
            Self::Folder(path) => Ok(ThreadReader::open(path)?.into_index()),
            Self::Session(session) => match session.threads().get(position) {
                Some(entry) => entry.open_index(),
                None => IndexReader::from_bytes([]),
            },
        }
    }

    /// Both files of a thread; none where only an index file was named.
    pub(crate) fn thread(&self, position: usize) -> Result<Option<ThreadReader>> {
        match self {
            Self::File(_) => Ok(None),
            Self::Folder(path) => ThreadReader::open(path).map(Some),
            Self::Session(session) => {
                let entry = session.threads().get(position);
                entry.map(ThreadEntry::open).transpose()
            }
        }
    }

    /// The least first timestamp of all threads that can be read.
    pub(crate) fn start_ns(&self) -> Option<u64> {
        let threads = match self {
            Self::File(_) | Self::Folder(_) => 1,
            Self::Session(session) => session.threads().len(),
        };
        let first = |position| self.index(position).and_then(|index| index.get(0));
        let first = (0..threads).filter_map(|position| first(position).ok().flatten());
        first.map(|event| event.timestamp_ns).min()
    }
}
