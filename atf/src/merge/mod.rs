//! Events of all threads in one order: by timestamp, and where timestamps are equal by thread.
//!
//! [`SessionReader::merge`](crate::session::SessionReader::merge) makes a [`Merge`], which says
//! what is wanted; [`Merge::events`] iterates over it, [`Merge::partitions`] divides it for several
//! cores.
//!
//! ```
//! # let path = "../samples/sample-small/session_20260105_101500/pid_4242";
//! let session = atf::session::SessionReader::open(path)?;
//! let merge = session.merge().time_range(1_234_567_890_200_000..);
//! for event in merge.events().take(3) {
//!     let event = event?;
//!     println!("{} thread_{} [{}]", event.event.timestamp_ns, event.thread, event.seq);
//! }
//! # Ok::<(), atf::Error>(())
//! ```

mod events;
mod feed;
mod lanes;
mod pace;
mod partition;
mod plan;
mod thread;
mod tree;

use std::ops::{Bound, RangeBounds};
use std::sync::{Arc, OnceLock};

use self::thread::{Files, Thread};
use crate::error::ErrorKind;
use crate::index::{IndexEvent, IndexReader};
use crate::session::{Problem, SessionReader, ThreadEntry};
use crate::thread::ThreadReader;

pub use self::events::Merged;

/// Bytes of all buffers of an iteration, unless there are very many threads.
const BUDGET: usize = 64 << 20;
/// With more threads than that, files are opened for each read and closed again: on some systems
/// a process may have 256 open files.
const MOST_OPEN: usize = 128;

/// An event and where it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MergedEvent {
    /// The position of its process among the sessions that are merged: 0 where there is one.
    pub process: u32,
    /// The id in the name of the thread's folder.
    pub thread: u32,
    /// Its position in the thread's `index.atf`, counted from 0.
    pub seq: u64,
    /// The event.
    pub event: IndexEvent,
}

/// Which threads to merge, and which time.
///
/// # The order
///
/// Events come by `timestamp_ns`; events of different threads with equal timestamps come by the
/// id in the name of the thread's folder, events of one thread in the order of its file. The
/// order is the same each time. Equal timestamps say nothing of what caused what.
///
/// A thread whose timestamps go back keeps the order of its file as well: its events come as soon
/// as all of the other threads that are next are later. So the output goes back where the thread
/// does, and nowhere else.
///
/// # Problems
///
/// Nothing that is wrong keeps events from coming, and no iteration ends without saying it. After
/// the last event comes an `Err` for each [problem](Self::problems): of the session (its manifest),
/// of a thread that could not be opened, and of each thread whose events are not all that were
/// written, or not as they were written ([`IndexReader::problems`]), or link to details that are
/// not there. A thread that cannot be read further ends there: that comes as an `Err` in the midst
/// of the events, once. The other threads go on.
///
/// An iteration over all events verifies them as it reads them. One over a
/// [time range](Self::time_range) does not read all, and can name the threads that nothing has
/// verified: [`Merged::unverified`]. Each of the [`partitions`](Self::partitions) reads for itself:
/// a thread that fails in one goes on in the next; what is wrong with the threads is told by the
/// last.
///
/// # Costs
///
/// Files are opened when the first method needs them. Events in memory are merged where they are.
/// From files each thread has a buffer: 64 MiB in all (see [`buffer_budget`](Self::buffer_budget))
/// divided by the number of threads, but between 4 KiB and 256 KiB each. With more than 128
/// threads no file stays open: each is opened for a read of its buffer and closed again, and if
/// another file stands there by then, that is an error.
#[derive(Debug)]
pub struct Merge {
    sources: Vec<Source>,
    /// What is wrong with the sessions that they are of.
    session_problems: Vec<Problem>,
    /// The first and the last timestamp that are wanted; `None` where all are.
    times: Option<(u64, u64)>,
    budget: usize,
    opened: OnceLock<Opened>,
}

/// A thread to merge.
#[derive(Debug)]
enum Source {
    Entry(u32, ThreadEntry),
    Open(Arc<Thread>),
}

/// The threads that could be opened, in the order in which ties go.
#[derive(Debug, Default)]
struct Opened {
    threads: Vec<Arc<Thread>>,
    problems: Vec<Problem>,
}

impl Merge {
    /// Merges files that are open, each under the id of its thread's folder.
    ///
    /// Of files with one id the first comes first where timestamps are equal.
    ///
    /// ```
    /// use atf::{index::IndexReader, merge::Merge};
    /// # let sample = "../samples/sample-small/session_20260105_101500/pid_4242";
    ///
    /// let files = [
    ///     (0, IndexReader::from_bytes(std::fs::read(format!("{sample}/thread_0/index.atf"))?)?),
    ///     (1, IndexReader::from_bytes(std::fs::read(format!("{sample}/thread_1/index.atf"))?)?),
    /// ];
    /// assert!(Merge::new(files).events().all(|event| event.is_ok()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn new(files: impl IntoIterator<Item = (u32, IndexReader)>) -> Self {
        Self::of_files(
            files
                .into_iter()
                .map(|(id, index)| (id, Files::Index(index))),
        )
    }

    /// Merges threads that are open, each under the id of its folder.
    #[must_use]
    pub fn of_threads(threads: impl IntoIterator<Item = (u32, ThreadReader)>) -> Self {
        let both = |(id, thread)| (id, Files::Both(Box::new(thread)));
        Self::of_files(threads.into_iter().map(both))
    }

    /// Merges the sessions of several processes, whose clock is the machine's. Events with equal
    /// timestamps come in the order of the processes, then of the threads.
    #[must_use]
    pub fn of_sessions<'a>(sessions: impl IntoIterator<Item = &'a SessionReader>) -> Self {
        let mut sources = Vec::new();
        let mut problems = Vec::new();
        for (process, session) in (0..).zip(sessions) {
            let entries = session.threads().iter().cloned();
            sources.extend(entries.map(|entry| Source::Entry(process, entry)));
            problems.extend(session.problems().into_iter().map(|error| Problem {
                process,
                thread: None,
                error,
            }));
        }
        Self::of(sources, problems)
    }

    fn of_files(files: impl Iterator<Item = (u32, Files)>) -> Self {
        let open = |(id, files)| Source::Open(Arc::new(Thread::new(0, id, files)));
        Self::of(files.map(open).collect(), Vec::new())
    }

    fn of(mut sources: Vec<Source>, session_problems: Vec<Problem>) -> Self {
        sources.sort_by_key(Source::place);
        Self {
            sources,
            session_problems,
            times: None,
            budget: BUDGET,
            opened: OnceLock::new(),
        }
    }

    /// Leaves out, of each thread, the events whose timestamp in nanoseconds is not in this range.
    ///
    /// A call that began before the range has its return in it, and one that ends behind it only
    /// its call: who adds up calls pairs all events and clips the
    /// [spans](crate::spans#in-a-range-of-time) instead.
    ///
    /// Of a finalized thread nothing is read but its ends and the events in the range: header,
    /// footer, first and last event must agree on its times ([`IndexReader::seek`]). Of a thread
    /// whose ends prove nothing all events are looked at.
    #[must_use]
    pub fn time_range(mut self, range: impl RangeBounds<u64>) -> Self {
        let first = match range.start_bound() {
            Bound::Included(first) => Some(*first),
            Bound::Excluded(before) => before.checked_add(1),
            Bound::Unbounded => Some(0),
        };
        let last = match range.end_bound() {
            Bound::Included(last) => Some(*last),
            Bound::Excluded(end) => end.checked_sub(1),
            Bound::Unbounded => Some(u64::MAX),
        };
        // A range without a timestamp, as one that ends before it begins.
        self.times = match first.zip(last) {
            Some((0, u64::MAX)) => None,
            times => Some(times.unwrap_or((u64::MAX, 0))),
        };
        self
    }

    /// Leaves out the threads whose folders do not have one of these ids.
    #[must_use]
    pub fn threads(mut self, ids: impl IntoIterator<Item = u32>) -> Self {
        let ids: std::collections::BTreeSet<u32> = ids.into_iter().collect();
        self.sources
            .retain(|source| ids.contains(&source.place().1));
        // Folders without an id are none of these threads'.
        let is_told = |problem: &Problem| *problem.error.kind() != ErrorKind::NoThreadId;
        self.session_problems.retain(is_told);
        self.opened = OnceLock::new();
        self
    }

    /// Bytes for the buffers of all threads, where they are read from files. Each has at least
    /// 4 KiB and at most 256 KiB.
    #[must_use]
    pub fn buffer_budget(mut self, bytes: usize) -> Self {
        self.budget = bytes;
        self
    }

    /// What is wrong, for all that is known yet: of the sessions, of the threads that could not be
    /// opened, and of those that could what their ends show and what iterations found out.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        let opened = self.opened();
        let of_threads = opened.threads.iter().flat_map(|thread| thread.problems());
        opened.problems.iter().cloned().chain(of_threads).collect()
    }

    /// The threads whose events have a checksum that nothing has compared with them yet, by their
    /// folders' ids: those of which only a part was read.
    pub fn unverified(&self) -> impl Iterator<Item = u32> {
        let threads = self.opened().threads.iter();
        threads.filter(|t| t.is_unverified()).map(|t| t.id())
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
    /// Its process, and its id: what ties go by.
    fn place(&self) -> (u32, u32) {
        match self {
            Self::Entry(process, entry) => (*process, entry.id()),
            Self::Open(thread) => (thread.process(), thread.id()),
        }
    }

    fn open(&self, is_kept_open: bool) -> Result<Arc<Thread>, Problem> {
        let (process, entry) = match self {
            Self::Open(thread) => return Ok(Arc::clone(thread)),
            Self::Entry(process, entry) => (*process, entry),
        };
        match entry.open_index_as(is_kept_open) {
            Ok(index) => {
                let folder = entry.path().to_path_buf();
                let files = Files::InFolder(index, folder, entry.options());
                Ok(Arc::new(Thread::new(process, entry.id(), files)))
            }
            Err(error) => Err(Problem {
                process,
                thread: Some(entry.id()),
                error,
            }),
        }
    }
}
