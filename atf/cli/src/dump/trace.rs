//! Opens the threads of a trace: a file, a folder or sessions.

use std::fmt;
use std::path::{Path, PathBuf};

use atf::index::IndexReader;
use atf::merge::Merge;
use atf::session::{ProcessName, Segments, SessionReader, ThreadEntry, thread_id};
use atf::thread::ThreadReader;
use atf::{Error, Result};

use crate::output::Failure;
use crate::parts::tell_deleted;
use crate::target::{Target, are_of_one_run, check_distinct, session_around, several};

/// A file, a thread's folder, or the sessions of some processes.
#[derive(Debug)]
pub(crate) enum Trace {
    /// An index file on its own.
    File(PathBuf),
    /// A thread's folder and, if it belongs to a session, the session.
    Folder(PathBuf, Option<Box<SessionReader>>),
    /// One or more processes that share the machine's clock, each with its segments. Sessions are
    /// numbered across all processes.
    Processes(Vec<Segments>),
}

/// A thread's id and, if there are several processes, its process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ThreadName {
    /// The process id, in a trace of several processes.
    pub(crate) process: Option<u32>,
    /// The id in the folder's name or, failing that, in the header.
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

/// A thread of a session. The thread may be unreadable.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ThreadPlace {
    /// The index of the thread's session in the trace.
    pub(crate) process: u32,
    /// The thread's name.
    pub(crate) name: ThreadName,
    /// The thread's index within its session.
    pub(crate) position: usize,
    /// The number of the thread's events in earlier segments.
    pub(crate) first_seq: u64,
    /// Whether this is the thread's first segment.
    pub(crate) is_first: bool,
    /// Whether events between the previous segment and this one are missing.
    pub(crate) is_after_gap: bool,
}

impl Trace {
    /// Opens the sessions of processes, but not their threads.
    pub(crate) fn of_processes(processes: &[Vec<PathBuf>]) -> Result<Self> {
        let processes = processes.iter().map(Segments::open);
        Ok(Self::Processes(processes.collect::<Result<_>>()?))
    }

    /// Opens a trace: a file, a thread's folder, or processes that share a clock.
    pub(crate) fn open(paths: &[PathBuf]) -> Result<Self, Failure> {
        let mut sessions = Vec::new();
        for path in paths {
            match Target::of(path)? {
                Target::Session(path) => sessions.push(path),
                Target::Sessions(paths) => sessions.extend(paths),
                Target::File(..) | Target::OtherFile(_) | Target::Thread(_) if paths.len() > 1 => {
                    let message = "several paths must be those of sessions";
                    return Err(Failure::Usage(format!("{}: {message}", path.display())));
                }
                Target::File(path, _) | Target::OtherFile(path) => return Ok(Self::File(path)),
                Target::Thread(path) => return Ok(Self::of_thread(path)),
            }
        }
        check_distinct(&sessions)?;
        let processes = Segments::group(sessions);
        if processes.len() > 1 && !are_processes(&processes) {
            return Err(several(paths, &processes.concat()));
        }
        let this = Self::of_processes(&processes)?;
        this.processes().iter().for_each(tell_deleted);
        Ok(this)
    }

    /// Opens a thread's folder. If the folder is in a session, takes names and the first time from
    /// the session.
    pub(crate) fn of_thread(path: PathBuf) -> Self {
        let session = session_around(&path).map(Box::new);
        Self::Folder(path, session)
    }

    /// Returns the processes whose sessions the trace contains.
    pub(crate) fn processes(&self) -> &[Segments] {
        match self {
            Self::File(_) | Self::Folder(..) => &[],
            Self::Processes(processes) => processes,
        }
    }

    /// Returns all sessions in order or, for a thread, the session it belongs to.
    pub(crate) fn sessions(&self) -> Vec<&SessionReader> {
        match self {
            Self::File(_) | Self::Folder(_, None) => Vec::new(),
            Self::Folder(_, Some(session)) => vec![session],
            Self::Processes(processes) => processes.iter().flat_map(Segments::sessions).collect(),
        }
    }

    /// Returns what recoveries lost in the thread whose folder was opened. The problems of whole
    /// sessions are those of their merge.
    pub(crate) fn lost_in_recovery(&self) -> Vec<Error> {
        match self {
            Self::Folder(path, Some(session)) => {
                let name = path.file_name().unwrap_or_default();
                let id = thread_id(&name.to_string_lossy());
                id.map_or_else(Vec::new, |id| session.lost_in(id))
            }
            Self::File(_) | Self::Folder(_, None) | Self::Processes(_) => Vec::new(),
        }
    }

    /// Returns the process id of each session, if there are several processes.
    pub(crate) fn process_ids(&self) -> Vec<Option<u32>> {
        let is_several = self.processes().len() > 1;
        let name = |session: &SessionReader| Some(ProcessName::of(session.path())?.pid);
        let sessions = self.sessions().into_iter();
        sessions
            .map(|session| name(session).filter(|_| is_several))
            .collect()
    }

    /// Returns the threads with these ids, or all if `ids` is empty. The segments of a thread are
    /// adjacent.
    pub(crate) fn threads(&self, ids: &[u32]) -> Result<Vec<ThreadPlace>, Failure> {
        let mut all = Vec::new();
        if self.processes().is_empty() {
            all.push(ThreadPlace {
                process: 0,
                name: ThreadName {
                    process: None,
                    id: self.file_id()?,
                },
                position: 0,
                first_seq: 0,
                is_first: true,
                is_after_gap: false,
            });
        }
        let process_ids = self.process_ids();
        let mut before = 0;
        for process in self.processes() {
            for thread in process.threads() {
                let mut first_seq = 0_u64;
                for (number, segment) in thread.segments.iter().enumerate() {
                    let session = before + segment.session;
                    all.push(ThreadPlace {
                        process: u32::try_from(session).unwrap_or(u32::MAX),
                        name: ThreadName {
                            process: process_ids.get(session).copied().flatten(),
                            id: thread.id,
                        },
                        position: segment.position,
                        first_seq,
                        is_first: number == 0,
                        is_after_gap: segment.is_after_gap,
                    });
                    if thread.segments.len() > 1 {
                        // A segment that cannot be opened is reported when its events are read.
                        let index = segment.entry.open_index();
                        let count = index.map_or(0, |index| index.event_count());
                        first_seq = first_seq.saturating_add(count);
                    }
                }
            }
            before += process.sessions().len();
        }
        if let Some(id) = ids.iter().find(|id| !all.iter().any(|t| t.name.id == **id)) {
            return Err(Failure::Usage(no_thread(*id, &all)));
        }
        all.retain(|place| ids.is_empty() || ids.contains(&place.name.id));
        Ok(all)
    }

    /// Merges the events of the threads with these ids, or of all threads if `ids` is empty. The
    /// threads of a session are opened during the merge.
    pub(crate) fn merge(&self, ids: &[u32]) -> Result<Merge> {
        let merge = match self {
            Self::Processes(processes) => Merge::of_processes(processes),
            Self::File(path) => {
                let index = IndexReader::open(path)?;
                Merge::new([(index.header().thread_id, index)])
            }
            Self::Folder(path, _) => {
                let thread = ThreadReader::open(path)?;
                Merge::of_threads([(thread.id(), thread)])
            }
        };
        Ok(match ids {
            [] => merge,
            ids => merge.threads(ids.iter().copied()),
        })
    }

    fn entry(&self, place: &ThreadPlace) -> Option<&ThreadEntry> {
        let mut sessions = self.processes().iter().flat_map(Segments::sessions);
        let session = sessions.nth(place.process as usize)?;
        session.threads().get(place.position)
    }

    /// Returns a thread's folder; `None` for a single index file.
    pub(crate) fn folder(&self, place: &ThreadPlace) -> Option<&Path> {
        match self {
            Self::File(_) => None,
            Self::Folder(path, _) => Some(path),
            Self::Processes(_) => self.entry(place).map(ThreadEntry::path),
        }
    }

    /// Opens the events of a thread. In a session, does not open the details, because opening them
    /// would require reading the whole file.
    pub(crate) fn index(&self, place: &ThreadPlace) -> Result<IndexReader> {
        match self.entry(place) {
            Some(entry) => entry.open_index(),
            None => self.open_file(),
        }
    }

    /// Opens both files of a thread; `None` if the trace is just an index file.
    pub(crate) fn thread(&self, place: &ThreadPlace) -> Result<Option<ThreadReader>> {
        match self {
            Self::File(_) => Ok(None),
            Self::Folder(path, _) => ThreadReader::open(path).map(Some),
            Self::Processes(_) => self.entry(place).map(ThreadEntry::open).transpose(),
        }
    }

    /// Returns the thread id of a single file or thread folder.
    fn file_id(&self) -> Result<u32> {
        Ok(match self {
            Self::Folder(path, _) => ThreadReader::open(path)?.id(),
            _ => self.open_file()?.header().thread_id,
        })
    }

    /// Opens the events of a single file or thread folder.
    pub(crate) fn open_file(&self) -> Result<IndexReader> {
        match self {
            Self::File(path) => IndexReader::open(path),
            Self::Folder(path, _) => Ok(ThreadReader::open(path)?.into_index()),
            Self::Processes(_) => IndexReader::from_bytes([]),
        }
    }
}

/// Returns whether these paths are the segments of several processes of one run, and the processes
/// have different ids. A program started by `exec` keeps the id of its predecessor.
fn are_processes(processes: &[Vec<PathBuf>]) -> bool {
    let mut firsts = processes.iter().filter_map(|paths| paths.first());
    let is_first = |path: &PathBuf| ProcessName::of(path).is_some_and(|name| name.program == 1);
    firsts.clone().all(is_first) && are_of_one_run(firsts.by_ref())
}

/// The maximum number of threads to list in a message.
const NAMED: usize = 20;

fn no_thread(id: u32, all: &[ThreadPlace]) -> String {
    if all.is_empty() {
        return format!("there is no thread {id}: the trace has no threads");
    }
    let all: Vec<_> = all.iter().filter(|place| place.is_first).collect();
    let mut names: Vec<_> = all.iter().take(NAMED).map(|t| t.name.to_string()).collect();
    if all.len() > NAMED {
        names.push(format!("and {} more", all.len() - NAMED));
    }
    format!("there is no thread {id} (threads: {})", names.join(", "))
}
