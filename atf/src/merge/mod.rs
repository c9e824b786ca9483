//! Merges the events of all threads by timestamp, then by thread.
//!
//! [`SessionReader::merge`](crate::session::SessionReader::merge) creates a [`Merge`], which
//! selects the events; [`Merge::events`] iterates over them, and [`Merge::partitions`] divides them
//! among several cores.
//!
//! ```
//! use atf::session::SessionReader;
#![doc = include_str!("../doc_setup/session.md")]
//! let session = SessionReader::open(path)?;
//! let merge = session.merge().time_range(200..);
//! for event in merge.events().take(3) {
//!     let event = event?;
//!     println!("{} thread_{} [{}]", event.event.timestamp_ns, event.thread, event.seq);
//! }
//! # Ok::<(), atf::Error>(())
//! ```

mod events;
mod key;
mod lane;
mod lanes;
mod partition;
mod tree;
mod turns;

use std::collections::{BTreeSet, HashMap};
use std::ops::{RangeBounds, RangeInclusive};
use std::sync::{Arc, OnceLock};

use crate::error::{Error, Result};
use crate::index::{IndexEvent, IndexReader, inclusive};
use crate::session::{Problem, SessionReader, ThreadEntry};
use crate::trace::{Files, Process, Trace, concerns};

pub use self::events::Merged;

/// The total size of an iteration's buffers in bytes, unless there are very many threads.
const BUDGET: usize = 64 << 20;
/// With more threads than this, files are reopened for each read, because some systems limit a
/// process to 256 open files.
const MOST_OPEN: usize = 128;

/// An event and its origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct MergedEvent {
    /// The position of the event's session among the sessions of all merged processes: each segment of
    /// a process is a session. 0 if there is only one session.
    pub session: u32,
    /// The id in the name of the thread's folder.
    pub thread: u32,
    /// Its position in the thread's `index.atf`, counted from 0.
    pub seq: u64,
    /// The event.
    pub event: IndexEvent,
}

impl MergedEvent {
    /// Creates an event of a thread in a session.
    #[must_use]
    pub const fn new(session: u32, thread: u32, seq: u64, event: IndexEvent) -> Self {
        Self {
            session,
            thread,
            seq,
            event,
        }
    }
}

/// A merge of the selected threads and time range.
///
/// # Order
///
/// Events are ordered by `timestamp_ns`. Events of different threads with equal timestamps are
/// ordered by the id in the name of the thread's folder; events of one thread stay in file order.
/// The order is deterministic. Equal timestamps do not imply cause and effect.
///
/// A thread with decreasing timestamps also stays in file order: its next event comes as soon as
/// every other thread's next event is later. Timestamps in the output therefore decrease only where
/// a thread's own timestamps do.
///
/// # Problems
///
/// Problems do not stop an iteration, which reports them at its end. After the last event comes an
/// `Err` for each [problem](Self::problems): with the session (its manifest), with threads that
/// could not be opened, and with threads whose events differ from what was written
/// ([`IndexReader::problems`]) or link to missing details. A thread that becomes unreadable ends
/// with a single `Err` among the other events, and the other threads continue.
///
/// An iteration over all events verifies them as it reads them. An iteration over a [time
/// range](Self::time_range) does not read everything, but can list the threads that it did not
/// verify ([`Merged::unverified`]). Each of the [`partitions`](Self::partitions) reads
/// independently: a thread that fails in one partition continues in the next, and the last
/// partition reports the threads' problems.
///
/// # Cost
///
/// Files are opened when a method first needs them. Events in memory are merged in place. For
/// files, each thread has a buffer: a total of 64 MiB (see [`buffer_budget`](Self::buffer_budget))
/// is divided by the number of threads, with 4 KiB to 64 KiB for each. With more than 128 threads,
/// no file stays open: each is reopened whenever its buffer is filled. Reopening fails if the file
/// was replaced in the meantime.
#[derive(Debug)]
pub struct Merge {
    sources: Vec<Source>,
    /// The problems of the merged sessions.
    session_problems: Vec<Problem>,
    /// The first and the last selected timestamp; `None` selects all.
    times: Option<(u64, u64)>,
    /// The first selected position in each opened thread; `None` selects all.
    first_seqs: Option<Vec<u64>>,
    budget: usize,
    opened: OnceLock<Opened>,
}

/// A thread to merge, in one session.
#[derive(Debug)]
struct Source {
    /// The rank of the process.
    rank: u32,
    /// The position of the session among those of all processes.
    session: u32,
    id: u32,
    /// The number of the thread, which all its segments share.
    thread: usize,
    files: Files,
}

/// The threads that could be opened, in tie-breaking order.
#[derive(Debug, Default)]
struct Opened {
    threads: Vec<Arc<Thread>>,
    problems: Vec<Problem>,
}

impl SessionReader {
    /// Merges the events of all threads, ordered by time, then by thread.
    #[must_use]
    pub fn merge(&self) -> Merge {
        Merge::of_processes([&self.into()])
    }
}

impl Trace {
    /// Merges the events of all processes, ordered by time, then by process, then by thread. The
    /// processes must share a clock. An event's [`session`](MergedEvent::session) is a position in
    /// [`sessions`](Trace::sessions).
    #[must_use]
    pub fn merge(&self) -> Merge {
        Merge::of_processes(self.processes())
    }
}

impl Merge {
    /// Merges open files, each paired with the id of its thread's folder.
    ///
    /// If two files have the same id and equal timestamps, the first file's events come first.
    ///
    /// ```
    /// use atf::{index::IndexReader, merge::Merge};
    #[doc = include_str!("../doc_setup/session.md")]
    /// let files = [
    ///     (0, IndexReader::from_bytes(std::fs::read(path.join("thread_0/index.atf"))?)?),
    ///     (1, IndexReader::from_bytes(std::fs::read(path.join("thread_1/index.atf"))?)?),
    /// ];
    /// assert!(Merge::new(files).events().all(|event| event.is_ok()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn new(files: impl IntoIterator<Item = (u32, IndexReader)>) -> Self {
        let files = files.into_iter();
        Self::of_files(files.map(|(id, index)| (id, Files::File(Arc::new(index)))))
    }

    /// Merges several processes that ran on one machine and share its clock. Events with equal
    /// timestamps are ordered by process, then by thread, then by segment.
    ///
    /// [`session`](MergedEvent::session) is the session's position among the sessions of all
    /// processes, in order. [`seq`](MergedEvent::seq) is the position in that session's file.
    #[must_use]
    pub fn of_processes<'a>(processes: impl IntoIterator<Item = &'a Process>) -> Self {
        let mut sources = Vec::new();
        let mut problems = Vec::new();
        let mut first = 0_u32;
        for (rank, process) in (0..).zip(processes) {
            problems.extend(process.problems().into_iter().map(|error| Problem {
                session: first,
                thread: None,
                error,
            }));
            for thread in process.threads() {
                let number = sources.len();
                for files in thread.files() {
                    let session = u32::try_from(files.session()).unwrap_or(u32::MAX);
                    sources.push(Source {
                        rank,
                        session: first.saturating_add(session),
                        id: thread.id(),
                        thread: number,
                        files: files.place().to_files(),
                    });
                }
            }
            let sessions = u32::try_from(process.sessions().len()).unwrap_or(u32::MAX);
            first = first.saturating_add(sessions.max(1));
        }
        Self::from_sources(sources, problems)
    }

    /// Merges threads of one session without reporting the session's own problems, for example to
    /// read the threads one after another.
    ///
    /// ```
    /// use atf::merge::Merge;
    #[doc = include_str!("../doc_setup/session.md")]
    /// let session = atf::session::SessionReader::open(path)?;
    /// for entry in session.threads() {
    ///     let mut events = Merge::of_entries([entry]).into_events();
    ///     assert_eq!(events.by_ref().count(), 2);
    ///     assert!(events.problems().is_empty());
    /// }
    /// # Ok::<(), atf::Error>(())
    /// ```
    #[must_use]
    pub fn of_entries<'a>(entries: impl IntoIterator<Item = &'a ThreadEntry>) -> Self {
        let entries = entries.into_iter();
        Self::of_files(entries.map(|entry| (entry.id(), Files::Folder(entry.clone()))))
    }

    fn of_files(files: impl Iterator<Item = (u32, Files)>) -> Self {
        let source = |(thread, (id, files))| Source {
            rank: 0,
            session: 0,
            id,
            thread,
            files,
        };
        let sources = files.enumerate().map(source);
        Self::from_sources(sources.collect(), Vec::new())
    }

    fn from_sources(mut sources: Vec<Source>, session_problems: Vec<Problem>) -> Self {
        // This order breaks ties.
        sources.sort_by_key(|it| (it.rank, it.id, it.session));
        Self {
            sources,
            session_problems,
            times: None,
            first_seqs: None,
            budget: BUDGET,
            opened: OnceLock::new(),
        }
    }

    /// Selects the events whose timestamps in nanoseconds are in this range.
    ///
    /// A call that began before the range contributes only its return, and a call that ends after
    /// it contributes only its call event. To add up calls, pair all events and clip the
    /// [spans](crate::spans#within-a-time-range) instead.
    ///
    /// For a finalized thread, only its ends and the events in the range are read, provided that
    /// header, footer, first and last event agree on its times ([`IndexReader::seek`]). Otherwise,
    /// all of its events are read.
    #[must_use]
    pub fn time_range(mut self, range: impl RangeBounds<u64>) -> Self {
        self.times = match inclusive(&range).map(RangeInclusive::into_inner) {
            Some((0, u64::MAX)) => None,
            // No time is in an empty range.
            times => Some(times.unwrap_or((u64::MAX, 0))),
        };
        self
    }

    /// Selects the threads whose folders have one of these ids.
    #[must_use]
    pub fn threads(mut self, ids: impl IntoIterator<Item = u32>) -> Self {
        let ids: BTreeSet<u32> = ids.into_iter().collect();
        self.sources.retain(|source| ids.contains(&source.id));
        self.session_problems
            .retain(|problem| concerns(&problem.error, &ids));
        (self.opened, self.first_seqs) = (OnceLock::new(), None);
        self
    }

    /// Selects the last `count` events of each thread that satisfy `wanted`, and all events between
    /// and after them. Searches each thread from its end. Call this after
    /// [`threads`](Self::threads), which selects all events of the threads.
    #[must_use]
    pub fn last(mut self, count: usize, wanted: impl Fn(&MergedEvent) -> bool) -> Self {
        let mut left = HashMap::new();
        let mut problems = Vec::new();
        let threads = self.opened().threads.iter().rev();
        let first_seqs = threads.map(|thread| {
            let left = left.entry(thread.number).or_insert(count);
            let mut seq = thread.index.event_count();
            let mut events = thread.index.events_in(..).rev();
            while *left > 0 {
                match events.next() {
                    Some(Ok(event)) => {
                        seq = seq.saturating_sub(1);
                        let event = MergedEvent::new(thread.session, thread.id, seq, event);
                        *left = left.saturating_sub(wanted(&event).into());
                    }
                    Some(Err(error)) => {
                        problems.push(thread.problem(error));
                        break;
                    }
                    None => break,
                }
            }
            seq
        });
        let mut first_seqs: Vec<u64> = first_seqs.collect();
        first_seqs.reverse();
        self.first_seqs = Some(first_seqs);
        if let Some(opened) = self.opened.get_mut() {
            opened.problems.extend(problems);
        }
        self
    }

    /// Sets the total buffer size in bytes for threads read from files. Each thread's buffer has at
    /// least 4 KiB and at most 64 KiB.
    #[must_use]
    pub fn buffer_budget(mut self, bytes: usize) -> Self {
        self.budget = bytes;
        self
    }

    /// Returns the known problems: with the sessions, with threads that could not be opened, and
    /// any that the ends of the other threads or earlier iterations have revealed.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        let opened = self.opened();
        let of_threads = opened.threads.iter().flat_map(|thread| thread.problems());
        opened.problems.iter().cloned().chain(of_threads).collect()
    }

    /// Returns the folder ids of threads whose checksum has not yet been compared with their
    /// events, because only part of them was read.
    pub fn unverified(&self) -> impl Iterator<Item = u32> {
        let threads = self.opened().threads.iter();
        threads.filter(|t| t.is_unverified()).map(|t| t.id)
    }

    fn opened(&self) -> &Opened {
        self.opened.get_or_init(|| {
            let is_kept_open = self.sources.len() <= MOST_OPEN;
            let mut opened = Opened {
                threads: Vec::new(),
                problems: self.session_problems.clone(),
            };
            for source in &self.sources {
                match source.open(is_kept_open) {
                    Ok(thread) => opened.threads.push(thread),
                    Err(problem) => opened.problems.push(problem),
                }
            }
            opened
        })
    }
}

impl Source {
    fn open(&self, is_kept_open: bool) -> Result<Arc<Thread>, Problem> {
        let problem = |error| Problem {
            session: self.session,
            thread: Some(self.id),
            error,
        };
        let (index, folder) = match &self.files {
            Files::File(index) => (Arc::clone(index), None),
            Files::Folder(entry) => {
                let index = entry.open_index_as(is_kept_open).map_err(problem)?;
                (Arc::new(index), Some(entry.clone()))
            }
        };
        Ok(Arc::new(Thread {
            number: self.thread,
            session: self.session,
            id: self.id,
            index,
            folder,
        }))
    }
}

/// An open thread and the id of its folder.
#[derive(Debug)]
struct Thread {
    /// The number of the thread, which all its segments share.
    number: usize,
    /// The position of the session among those of all processes.
    session: u32,
    /// The id in the folder's name.
    id: u32,
    index: Arc<IndexReader>,
    /// The thread's folder; `None` for a single index file. The details are checked after the last
    /// event.
    folder: Option<ThreadEntry>,
}

impl Thread {
    /// Returns whether the thread's timestamps never decrease. Only the first call reads all
    /// events.
    fn is_ordered(&self) -> Result<bool> {
        Ok(self.index.scan()?.is_ordered())
    }

    /// Returns whether the thread's checksum has not yet been compared with its events.
    fn is_unverified(&self) -> bool {
        self.index.known_checksum().is_none()
    }

    /// Wraps an error as a problem of this thread.
    fn problem(&self, error: Error) -> Problem {
        Problem {
            session: self.session,
            thread: Some(self.id),
            error,
        }
    }

    /// Returns the known problems of the thread's events and links.
    fn problems(&self) -> Vec<Problem> {
        let beside = |entry: &ThreadEntry| entry.problems_beside(&self.index);
        let beside = self.folder.iter().flat_map(beside);
        let errors = self.index.problems().into_iter().chain(beside);
        errors.map(|error| self.problem(error)).collect()
    }
}
