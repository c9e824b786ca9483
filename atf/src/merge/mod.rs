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

use self::thread::Thread;
use crate::index::{IndexEvent, IndexReader};
use crate::session::{ThreadEntry, ThreadProblem};

pub use self::events::Merged;

/// Bytes of all buffers of an iteration, unless there are very many threads.
const BUDGET: usize = 64 << 20;
/// With more threads than that, files are opened for each read and closed again: on some systems
/// a process may have 256 open files.
const MOST_OPEN: usize = 128;

/// An event and where it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MergedEvent {
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
/// # Failures
///
/// A thread that cannot be opened is among the [`problems`](Self::problems). One that cannot be
/// read further ends there: that comes as an `Err` in the midst of the events, once, and is among
/// [`Merged::problems`]. The other threads go on. Each of the [`partitions`](Self::partitions)
/// reads for itself: a thread that fails in one goes on in the next.
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
    /// The first and the last timestamp that are wanted; `None` where all are.
    times: Option<(u64, u64)>,
    budget: usize,
    opened: OnceLock<Opened>,
}

/// A thread to merge.
#[derive(Debug)]
enum Source {
    Entry(ThreadEntry),
    Open(Arc<Thread>),
}

/// The threads that could be opened, in the order in which ties go.
#[derive(Debug, Default)]
struct Opened {
    threads: Vec<Arc<Thread>>,
    problems: Vec<ThreadProblem>,
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
        let open = |(id, index)| Source::Open(Arc::new(Thread::new(id, index)));
        Self::of(files.into_iter().map(open).collect())
    }

    pub(crate) fn of_entries(entries: impl Iterator<Item = ThreadEntry>) -> Self {
        Self::of(entries.map(Source::Entry).collect())
    }

    fn of(mut sources: Vec<Source>) -> Self {
        sources.sort_by_key(Source::id);
        Self {
            sources,
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
    /// The files are searched where they are in order. Whether they are, the first iteration
    /// learns by reading them once; from a file that is not, all events are looked at.
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
        self.sources.retain(|source| ids.contains(&source.id()));
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

    /// The threads that could not be opened.
    #[must_use]
    pub fn problems(&self) -> &[ThreadProblem] {
        &self.opened().problems
    }

    fn opened(&self) -> &Opened {
        self.opened.get_or_init(|| {
            let is_kept_open = self.sources.len() <= MOST_OPEN;
            let mut opened = Opened::default();
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
    fn id(&self) -> u32 {
        match self {
            Self::Entry(entry) => entry.id(),
            Self::Open(thread) => thread.id(),
        }
    }

    fn open(&self, is_kept_open: bool) -> Result<Arc<Thread>, ThreadProblem> {
        let entry = match self {
            Self::Open(thread) => return Ok(Arc::clone(thread)),
            Self::Entry(entry) => entry,
        };
        let thread = entry.id();
        match entry.open_index_as(is_kept_open) {
            Ok(index) => Ok(Arc::new(Thread::new(thread, index))),
            Err(error) => Err(ThreadProblem { thread, error }),
        }
    }
}
