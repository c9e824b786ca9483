//! Opens whatever contains a trace: a file, a thread's folder, a session, or a folder with sessions.
//!
//! ```
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path();
//! # for name in ["pid_1", "pid_2"] {
//! #     let writer = atf::write::SessionWriter::create(path.join(name), &Default::default())?;
//! #     let mut thread = writer.thread(0)?;
//! #     thread.write(&atf::write::Event::new(100, 7, atf::EventKind::CALL, 1))?;
//! #     thread.finalize()?;
//! #     writer.finalize()?;
//! # }
//! use atf::trace::Trace;
//!
//! let trace = Trace::open(path)?;
//! for process in trace.processes() {
//!     for thread in process.threads() {
//!         println!("{} thread {}", process.path().display(), thread.id());
//!     }
//! }
//! assert_eq!(trace.processes().len(), 2);
//! assert_eq!(trace.merge().events().count(), 2);
//! # Ok::<(), atf::Error>(())
//! ```

mod kind;
mod process;
mod thread;
mod times;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use crate::clock::MediaClock;
use crate::error::{Error, ErrorKind, Result};
use crate::index::IndexReader;
use crate::kind::FileKind;
use crate::session::SessionReader;
use crate::symbols::SymbolTable;

pub use kind::PathKind;
pub use process::Process;
pub(crate) use process::concerns;
pub(crate) use thread::Files;
pub use thread::{Thread, ThreadFiles};

/// The processes at one or more paths.
///
/// A trace is a snapshot: files that appear later are not included.
#[derive(Debug, Clone)]
pub struct Trace {
    processes: Vec<Process>,
}

impl Trace {
    /// Opens an index file, a thread's folder, a session, or all sessions below a folder.
    ///
    /// # Errors
    ///
    /// The errors of [`PathKind::detect`], [`IndexReader::open`], [`Process::of_thread`] and
    /// [`Process::open`]. [`ErrorKind::NotATrace`] for a file of details, because they belong to the
    /// index next to them.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_all([path])
    }

    /// Opens everything at these paths. Threads' folders and files come first, each as a separate
    /// process. Sessions that are segments of the same process become one process.
    ///
    /// # Errors
    ///
    /// The errors of [`open`](Self::open). [`ErrorKind::SameTrace`] if several paths lead to the same
    /// file or folder, because its events would count twice.
    pub fn open_all(paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Result<Self> {
        let mut processes = Vec::new();
        let mut sessions = Vec::new();
        for path in paths {
            let path = path.as_ref();
            match PathKind::detect(path)? {
                PathKind::Session => sessions.push(path.to_path_buf()),
                PathKind::Sessions(found) => sessions.extend(found),
                PathKind::Thread => processes.push(Process::of_thread(path)?),
                PathKind::File(FileKind::Index) => {
                    processes.push(IndexReader::open(path)?.into());
                }
                PathKind::File(FileKind::Detail) => {
                    let found = "only details; their calls are in the index file next to it";
                    let error = Error::new(ErrorKind::NotATrace {
                        found: found.to_owned(),
                    });
                    return Err(error.with_path(Some(path)));
                }
            }
        }
        let alone = processes.iter().map(|it: &Process| it.path().to_path_buf());
        check_distinct(sessions.iter().cloned().chain(alone))?;
        for segments in Process::group(sessions) {
            processes.push(Process::open(segments)?);
        }
        Ok(Self { processes })
    }

    /// Uses only the function names of another manifest.
    #[must_use]
    pub fn with_names(self, names: impl Into<Arc<SymbolTable>>) -> Self {
        let names = names.into();
        let processes = self.processes.into_iter();
        let processes = processes.map(|process| process.with_names(Arc::clone(&names)));
        Self {
            processes: processes.collect(),
        }
    }

    /// Converts all times to the clock of the sound or screen recording to which the timing anchors
    /// of each process refer. Traces of several machines can share such a clock.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NoMediaClock`] if a process has no anchors, if anchors refer to different
    /// recordings, or if events begin before the recording, because times cannot be negative.
    pub fn on_media_clock(self) -> Result<Self> {
        let mut first: Option<MediaClock> = None;
        let mut processes = Vec::new();
        for process in self.processes {
            let clock = process.media_clock().and_then(|clock| {
                first
                    .get_or_insert_with(|| clock.clone())
                    .check_same(&clock)?;
                Ok(clock)
            });
            let clock = clock.map_err(|why| {
                let error = Error::new(ErrorKind::NoMediaClock(why));
                error
                    .with_field("timing_anchors")
                    .with_path(Some(process.path()))
            })?;
            processes.push(process.with_clock(Some(clock)));
        }
        Ok(Self { processes })
    }

    /// Returns the processes.
    #[must_use]
    pub fn processes(&self) -> &[Process] {
        &self.processes
    }

    /// Returns the sessions of all processes, in order.
    pub fn sessions(&self) -> impl Iterator<Item = &SessionReader> {
        self.processes.iter().flat_map(Process::sessions)
    }

    /// Returns whether the processes were recorded in one run, on one clock.
    #[must_use]
    pub fn is_one_run(&self) -> bool {
        self.processes
            .iter()
            .zip(self.processes.iter().skip(1))
            .all(|(one, next)| one.is_of_run_of(next))
    }

    /// Returns the earliest and the latest time of all processes, in nanoseconds; `None` if no
    /// readable thread has events.
    #[must_use]
    pub fn time_range(&self) -> Option<(u64, u64)> {
        let times = self.processes.iter().filter_map(Process::time_range);
        times.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)))
    }
}

/// Checks that no two paths lead to the same file or folder, whose events would count twice. Ignores
/// paths that cannot be resolved, because opening them fails, too.
///
/// # Errors
///
/// [`ErrorKind::SameTrace`].
#[doc(hidden)]
pub fn check_distinct(paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Result<()> {
    let mut seen = BTreeMap::new();
    for path in paths {
        let path = path.as_ref();
        let Ok(real) = fs::canonicalize(path) else {
            continue;
        };
        if let Some(other) = seen.insert(real, path.to_path_buf()) {
            let error = Error::new(ErrorKind::SameTrace { other });
            return Err(error.with_path(Some(path)));
        }
    }
    Ok(())
}
