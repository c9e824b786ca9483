//! The threads of a trace, however it was named.

use std::path::{Path, PathBuf};

use atf::Result;
use atf::index::IndexReader;
use atf::merge::Merge;
use atf::session::{SessionReader, ThreadEntry};
use atf::thread::{INDEX_FILE, ThreadReader};

use crate::output::Failure;
use crate::text::Counted;

/// A file, a thread's folder, or a session.
#[derive(Debug)]
pub(crate) enum Trace {
    /// An index file by itself.
    File(PathBuf),
    /// A thread's folder, and the session that it belongs to.
    Folder(PathBuf, Option<Box<SessionReader>>),
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

    /// A thread's folder. If it stands in a session, names and the first time are the session's.
    pub(crate) fn of_thread(path: PathBuf) -> Self {
        let session = session_around(&path).map(Box::new);
        Self::Folder(path, session)
    }

    /// The session whose names count.
    pub(crate) fn session(&self) -> Option<&SessionReader> {
        match self {
            Self::File(_) | Self::Folder(_, None) => None,
            Self::Folder(_, Some(session)) | Self::Session(session) => Some(session),
        }
    }

    /// The threads with these ids; all where there is none.
    pub(crate) fn threads(&self, ids: &[u32]) -> Result<Vec<ThreadPlace>, Failure> {
        let all: Vec<_> = match self {
            Self::File(_) | Self::Folder(..) => vec![self.index(0)?.header().thread_id],
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
            Self::File(_) | Self::Folder(..) => {
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
            Self::Folder(path, _) => Ok(ThreadReader::open(path)?.into_index()),
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
            Self::Folder(path, _) => ThreadReader::open(path).map(Some),
            Self::Session(session) => {
                let entry = session.threads().get(position);
                entry.map(ThreadEntry::open).transpose()
            }
        }
    }

    /// What the ends of all threads that can be read say.
    pub(crate) fn survey(&self) -> Survey {
        let mut survey = Survey::default();
        let entries = self.session().map(SessionReader::threads);
        let count = entries.map_or(1, <[ThreadEntry]>::len);
        for position in 0..count {
            let index = match entries {
                Some(entries) => entries.get(position).map(ThreadEntry::open_index),
                None => Some(self.index(position)),
            };
            let Some(Ok(index)) = index else {
                continue;
            };
            if let Ok(Some((start_ns, end_ns))) = index.time_range() {
                let (first, last) = survey.times.unwrap_or((start_ns, end_ns));
                survey.times = Some((first.min(start_ns), last.max(end_ns)));
            }
            if let (missing @ 1.., there) = (index.missing_events(), index.event_count()) {
                let all = Counted(there.saturating_add(missing), "event");
                let cut = format!("cut: {there} of {all} are there");
                survey.cut.push((position, cut));
            }
        }
        if let Self::Folder(path, Some(session)) = self {
            let folder = path.canonicalize().unwrap_or_default();
            let is_it = |place: usize| {
                let entry = session.threads().get(place);
                entry.is_some_and(|entry| entry.path().file_name() == folder.file_name())
            };
            // It is the only thread.
            survey.cut.retain(|(place, _)| is_it(*place));
            survey.cut.iter_mut().for_each(|(place, _)| *place = 0);
        }
        survey
    }

    /// The index file of a thread.
    pub(crate) fn index_path(&self, position: usize) -> PathBuf {
        match self {
            Self::File(path) => path.clone(),
            Self::Folder(path, _) => path.join(INDEX_FILE),
            Self::Session(session) => {
                let entry = session.threads().get(position);
                entry
                    .map(|entry| entry.path().join(INDEX_FILE))
                    .unwrap_or_default()
            }
        }
    }
}

/// What the ends of a trace's threads say.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    /// The least first timestamp and the greatest last one.
    pub(crate) times: Option<(u64, u64)>,
    /// Threads of whose events the last are missing, by their places, with how many are there.
    pub(crate) cut: Vec<(usize, String)>,
}

impl Survey {
    /// The least first timestamp.
    pub(crate) fn start_ns(&self) -> Option<u64> {
        self.times.map(|(start_ns, _)| start_ns)
    }
}

/// The session that a thread's folder belongs to.
pub(crate) fn session_around(folder: &Path) -> Option<SessionReader> {
    let folder = folder.canonicalize().ok()?;
    let session = SessionReader::open(folder.parent()?).ok()?;
    let mut threads = session.threads().iter();
    let is_in = threads.any(|entry| entry.path().file_name() == folder.file_name());
    is_in.then_some(session)
}
