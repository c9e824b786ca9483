//! The threads of a trace: of a file, a folder or sessions.

use std::fmt;
use std::path::{Path, PathBuf};

use atf::Result;
use atf::index::IndexReader;
use atf::merge::Merge;
use atf::session::{SessionReader, ThreadEntry};
use atf::thread::ThreadReader;

use crate::output::Failure;

/// A file, a thread's folder, or the sessions of some processes.
#[derive(Debug)]
pub(crate) enum Trace {
    /// An index file alone.
    File(PathBuf),
    /// A thread's folder, and the session that it belongs to.
    Folder(PathBuf, Option<Box<SessionReader>>),
    /// The sessions of one or several processes, which share the machine's clock.
    Sessions(Vec<SessionReader>),
}

/// A thread's name: its folder's id, and its process if there are several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ThreadName {
    /// The process id, in a trace of several processes.
    pub(crate) process: Option<u32>,
    /// The id in the folder's name, or else in the header.
    pub(crate) id: u32,
}

impl fmt::Display for ThreadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.process {
            Some(process) => f.pad(&format!("{process}/{}", self.id)),
            None => fmt::Display::fmt(&self.id, f),
        }
    }
}

/// A thread of a trace, which may be unreadable.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ThreadPlace {
    /// The position of its process in the trace.
    pub(crate) process: u32,
    /// Its name.
    pub(crate) name: ThreadName,
    /// Its position among the threads of its process.
    pub(crate) position: usize,
}

impl Trace {
    /// Opens sessions, but not their threads.
    pub(crate) fn of_sessions(paths: &[PathBuf]) -> Result<Self> {
        let sessions = paths.iter().map(SessionReader::open);
        Ok(Self::Sessions(sessions.collect::<Result<_>>()?))
    }

    /// Opens a thread's folder. If it is in a session, names and the first time are the session's.
    pub(crate) fn of_thread(path: PathBuf) -> Self {
        let session = session_around(&path).map(Box::new);
        Self::Folder(path, session)
    }

    /// The sessions that provide names, by process.
    pub(crate) fn sessions(&self) -> &[SessionReader] {
        match self {
            Self::File(_) | Self::Folder(_, None) => &[],
            Self::Folder(_, Some(session)) => std::slice::from_ref(session),
            Self::Sessions(sessions) => sessions,
        }
    }

    /// The process id of a session, if there are several.
    fn process_id(&self, process: u32) -> Option<u32> {
        let Self::Sessions(sessions) = self else {
            return None;
        };
        let session = sessions.get(process as usize)?;
        let name = session.path().file_name()?.to_str()?;
        let id = name.strip_prefix(PROCESS)?.parse().ok();
        id.filter(|_| sessions.len() > 1)
    }

    /// The process id of each session, if there are several.
    pub(crate) fn process_ids(&self) -> Vec<Option<u32>> {
        let processes = 0..u32::try_from(self.sessions().len()).unwrap_or(u32::MAX);
        processes.map(|process| self.process_id(process)).collect()
    }

    /// The threads with these ids; all if `ids` is empty.
    pub(crate) fn threads(&self, ids: &[u32]) -> Result<Vec<ThreadPlace>, Failure> {
        let mut all = Vec::new();
        match self {
            Self::File(_) | Self::Folder(..) => all.push(ThreadPlace {
                process: 0,
                name: ThreadName {
                    process: None,
                    id: self.open_file()?.header().thread_id,
                },
                position: 0,
            }),
            Self::Sessions(sessions) => {
                for (process, session) in (0..).zip(sessions) {
                    let process_id = self.process_id(process);
                    let places = session.threads().iter().enumerate();
                    all.extend(places.map(|(position, entry)| ThreadPlace {
                        process,
                        name: ThreadName {
                            process: process_id,
                            id: entry.id(),
                        },
                        position,
                    }));
                }
            }
        }
        if let Some(id) = ids.iter().find(|id| !all.iter().any(|t| t.name.id == **id)) {
            return Err(Failure::Usage(no_thread(*id, &all)));
        }
        all.retain(|place| ids.is_empty() || ids.contains(&place.name.id));
        Ok(all)
    }

    /// Merges the events of the threads with these ids; all if `ids` is empty. A session's threads
    /// are opened later.
    pub(crate) fn merge(&self, ids: &[u32]) -> Result<Merge> {
        let merge = match self {
            Self::Sessions(sessions) => Merge::of_sessions(sessions),
            Self::File(path) => {
                let index = IndexReader::open(path)?;
                Merge::new([(index.header().thread_id, index)])
            }
            Self::Folder(path, _) => {
                let thread = ThreadReader::open(path)?;
                Merge::of_threads([(thread.index().header().thread_id, thread)])
            }
        };
        Ok(match ids {
            [] => merge,
            ids => merge.threads(ids.iter().copied()),
        })
    }

    fn entry(&self, place: &ThreadPlace) -> Option<&ThreadEntry> {
        let Self::Sessions(sessions) = self else {
            return None;
        };
        let session = sessions.get(place.process as usize)?;
        session.threads().get(place.position)
    }

    /// Opens the events of a thread; in a session without its details, which would take a pass over
    /// the file.
    pub(crate) fn index(&self, place: &ThreadPlace) -> Result<IndexReader> {
        match self.entry(place) {
            Some(entry) => entry.open_index(),
            None => self.open_file(),
        }
    }

    /// Opens both files of a thread; `None` if the trace is only an index file.
    pub(crate) fn thread(&self, place: &ThreadPlace) -> Result<Option<ThreadReader>> {
        match self {
            Self::File(_) => Ok(None),
            Self::Folder(path, _) => ThreadReader::open(path).map(Some),
            Self::Sessions(_) => self.entry(place).map(ThreadEntry::open).transpose(),
        }
    }

    /// Opens the events of the trace's only file or folder.
    fn open_file(&self) -> Result<IndexReader> {
        match self {
            Self::File(path) => IndexReader::open(path),
            Self::Folder(path, _) => Ok(ThreadReader::open(path)?.into_index()),
            Self::Sessions(_) => IndexReader::from_bytes([]),
        }
    }

    /// The earliest and latest timestamps of all readable threads, including the other threads of a
    /// thread's session.
    pub(crate) fn times(&self) -> Option<(u64, u64)> {
        let in_sessions = self.sessions().iter().flat_map(SessionReader::threads);
        let in_sessions = in_sessions.map(ThreadEntry::open_index);
        let alone = self.sessions().is_empty().then(|| self.open_file());
        let times = alone.into_iter().chain(in_sessions);
        let times = times.filter_map(|index| index.ok()?.time_range().ok()?);
        times.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)))
    }
}

/// The prefix of process folders' names.
const PROCESS: &str = "pid_";

/// Whether these sessions belong to the processes of one run: folders `pid_N` side by side.
pub(crate) fn are_processes(paths: &[PathBuf]) -> bool {
    let is_process = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        let id = name.and_then(|name| name.strip_prefix(PROCESS));
        id.is_some_and(|id| id.parse::<u32>().is_ok())
    };
    let parent = |path: &PathBuf| path.parent().map(Path::to_path_buf);
    paths.iter().all(is_process)
        && paths
            .windows(2)
            .all(|pair| parent(&pair[0]) == parent(&pair[1]))
}

/// How many threads a message lists at most.
const NAMED: usize = 20;

fn no_thread(id: u32, all: &[ThreadPlace]) -> String {
    if all.is_empty() {
        return format!("there is no thread {id}: the trace has no threads");
    }
    let mut names: Vec<_> = all.iter().take(NAMED).map(|t| t.name.to_string()).collect();
    if all.len() > NAMED {
        names.push(format!("and {} more", all.len() - NAMED));
    }
    format!("there is no thread {id} (threads: {})", names.join(", "))
}

/// The session that a thread's folder belongs to.
pub(crate) fn session_around(folder: &Path) -> Option<SessionReader> {
    let folder = folder.canonicalize().ok()?;
    let session = SessionReader::open(folder.parent()?).ok()?;
    let mut threads = session.threads().iter();
    let is_in = threads.any(|entry| entry.path().file_name() == folder.file_name());
    is_in.then_some(session)
}
