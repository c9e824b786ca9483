//! A traced process: its threads and its manifest.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::detail::DetailReader;
use crate::error::{Error, ErrorKind, Result};
use crate::index::IndexReader;
use crate::manifest::Manifest;
use crate::merge::Merge;
use crate::source::{Input, OpenOptions};
use crate::thread::{INDEX_FILE, ThreadReader};

/// The name of the file that describes a session.
pub const MANIFEST_FILE: &str = "manifest.json";
/// What the names of thread folders begin with; the id in decimal follows.
pub(crate) const THREAD_FOLDER: &str = "thread_";

/// Reads a session: a folder with `manifest.json` and a folder `thread_N` for each thread.
///
/// Threads are those that have a folder and those that the manifest lists. Nothing in the manifest
/// keeps them from being read, and none of them keeps the others. Files are opened when
/// [`ThreadEntry::open`] is called and closed with its reader, so a session may have more threads
/// than a process may have open files.
///
/// ```
/// use atf::session::SessionReader;
/// # let path = "../samples/sample-small/session_20260105_101500/pid_4242";
///
/// let session = SessionReader::open(path)?;
/// for entry in session.threads() {
///     match entry.open() {
///         Ok(thread) => println!("{}: {} events", entry.id(), thread.index().event_count()),
///         Err(error) => eprintln!("{error}"),
///     }
/// }
/// assert_eq!(session.summary().index_events, 2000);
/// # Ok::<(), atf::Error>(())
/// ```
#[derive(Debug)]
pub struct SessionReader {
    path: PathBuf,
    manifest: Option<Manifest>,
    threads: Vec<ThreadEntry>,
    unrecognized: Vec<String>,
}

impl SessionReader {
    /// Looks at a session's folder without opening its threads.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`] where the folder cannot be listed; [`ErrorKind::NotASession`] where it
    /// has neither a manifest nor a folder `thread_N`.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, OpenOptions::new())
    }

    /// Looks at a session's folder; its threads are opened as `options` say.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_with(path: impl AsRef<Path>, options: OpenOptions) -> Result<Self> {
        let path = path.as_ref();
        let folders = Folders::list(path).map_err(|error| error.with_path(Some(path)))?;
        let manifest = Manifest::read(&path.join(MANIFEST_FILE));
        if manifest.is_none() && folders.threads.is_empty() {
            return Err(Error::new(ErrorKind::NotASession).with_path(Some(path)));
        }
        Ok(Self {
            path: path.to_path_buf(),
            threads: entries(path, folders.threads, manifest.as_ref(), options),
            manifest,
            unrecognized: folders.unrecognized,
        })
    }

    /// The folder, as it was opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the manifest says, with its problems; `None` where there is no manifest.
    #[must_use]
    pub fn manifest(&self) -> Option<&Manifest> {
        self.manifest.as_ref()
    }

    /// The threads by ascending id.
    #[must_use]
    pub fn threads(&self) -> &[ThreadEntry] {
        &self.threads
    }

    /// Names that begin as a thread's folder does and go on with something that is no thread id.
    #[must_use]
    pub fn unrecognized(&self) -> &[String] {
        &self.unrecognized
    }

    /// The events of all threads in one order: by time, and where that is equal by thread.
    #[must_use]
    pub fn merge(&self) -> Merge {
        Merge::of_entries(self.threads.iter().cloned())
    }

    /// Opens one thread after the other and adds them up.
    #[must_use]
    pub fn summary(&self) -> SessionSummary {
        let mut summary = SessionSummary::default();
        for entry in &self.threads {
            if entry
                .open()
                .and_then(|thread| summary.add(&thread))
                .is_err()
            {
                summary.unreadable = summary.unreadable.saturating_add(1);
            }
        }
        summary
    }
}

/// A thread of a session that could not be read, or not to its end.
#[derive(Debug, Clone)]
pub struct ThreadProblem {
    /// The id in the name of the thread's folder.
    pub thread: u32,
    /// What is wrong; it names the file.
    pub error: Error,
}

/// A thread of a session.
#[derive(Debug, Clone)]
pub struct ThreadEntry {
    id: u32,
    path: PathBuf,
    presence: Presence,
    is_listed: bool,
    options: OpenOptions,
}

/// What stands at the place of a thread's folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// A folder.
    Folder,
    /// A symbolic link, which could lead out of the session: it is not followed unless
    /// [`OpenOptions::follow_links`] says so.
    SymbolicLink,
    /// Something else.
    NotAFolder,
    /// Nothing: only the manifest lists the thread.
    Missing,
}

impl ThreadEntry {
    /// The id in the folder's name.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.id
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What stands there.
    #[must_use]
    pub fn presence(&self) -> Presence {
        self.presence
    }

    /// Whether the manifest lists the thread.
    #[must_use]
    pub fn is_listed(&self) -> bool {
        self.is_listed
    }

    /// Opens the thread's files.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::SymbolicLink`], [`ErrorKind::MissingFolder`], and as
    /// [`ThreadReader::open`].
    pub fn open(&self) -> Result<ThreadReader> {
        self.check_presence()?;
        ThreadReader::open_with(&self.path, self.options)
    }

    /// Opens `index.atf` alone, which is closed between reads unless it is kept open.
    pub(crate) fn open_index(&self, is_kept_open: bool) -> Result<IndexReader> {
        self.check_presence()?;
        let path = self.path.join(INDEX_FILE);
        let input = match is_kept_open {
            true => Input::open_in_session(&path, self.options)?,
            false => Input::open_briefly(&path, self.options)?,
        };
        IndexReader::new(input)
    }

    fn check_presence(&self) -> Result<()> {
        let kind = match self.presence {
            Presence::Folder | Presence::NotAFolder => return Ok(()),
            Presence::SymbolicLink if self.options.follow_links => return Ok(()),
            Presence::SymbolicLink => ErrorKind::SymbolicLink,
            Presence::Missing => ErrorKind::MissingFolder,
        };
        Err(Error::new(kind).with_path(Some(&self.path)))
    }
}

/// The threads of a session, added up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SessionSummary {
    /// Threads that could be opened.
    pub threads: u64,
    /// Threads that could not.
    pub unreadable: u64,
    /// Index events of all threads.
    pub index_events: u64,
    /// Detail events of all threads.
    pub detail_events: u64,
    /// The least first and the greatest last timestamp in nanoseconds, of threads with events.
    pub time_range: Option<(u64, u64)>,
}

impl SessionSummary {
    fn add(&mut self, thread: &ThreadReader) -> Result<()> {
        let times = thread.index().time_range()?;
        let details = thread.detail().map_or(0, DetailReader::event_count);
        self.threads = self.threads.saturating_add(1);
        self.index_events = self
            .index_events
            .saturating_add(thread.index().event_count());
        self.detail_events = self.detail_events.saturating_add(details);
        self.time_range = match (self.time_range, times) {
            (Some(all), Some(one)) => Some((all.0.min(one.0), all.1.max(one.1))),
            (all, one) => all.or(one),
        };
        Ok(())
    }
}

/// What a session's folder holds.
#[derive(Default)]
struct Folders {
    threads: BTreeMap<(u32, String), Presence>,
    unrecognized: Vec<String>,
}

impl Folders {
    fn list(path: &Path) -> Result<Self> {
        let mut this = Self::default();
        for entry in fs::read_dir(path).map_err(Error::io)? {
            let entry = entry.map_err(Error::io)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let Some(id) = name.strip_prefix(THREAD_FOLDER) else {
                continue;
            };
            let Some(id) = thread_id(id) else {
                this.unrecognized.push(name);
                continue;
            };
            let presence = match entry.file_type().map_err(Error::io)? {
                file_type if file_type.is_symlink() => Presence::SymbolicLink,
                file_type if file_type.is_dir() => Presence::Folder,
                _ => Presence::NotAFolder,
            };
            this.threads.insert((id, name), presence);
        }
        this.unrecognized.sort();
        Ok(this)
    }
}

/// The id in a folder's name: decimal digits and nothing else.
fn thread_id(digits: &str) -> Option<u32> {
    digits
        .parse()
        .ok()
        .filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The threads that have a folder and those that are listed, by id.
fn entries(
    path: &Path,
    mut folders: BTreeMap<(u32, String), Presence>,
    manifest: Option<&Manifest>,
    options: OpenOptions,
) -> Vec<ThreadEntry> {
    let listed: BTreeSet<u32> = manifest
        .iter()
        .flat_map(|m| &m.threads)
        .map(|t| t.id)
        .collect();
    for id in &listed {
        // Any folder of that id will do: `thread_01` is thread 1.
        if folders
            .range((*id, String::new())..)
            .next()
            .is_none_or(|((next, _), _)| next != id)
        {
            folders.insert((*id, format!("{THREAD_FOLDER}{id}")), Presence::Missing);
        }
    }
    let entry = |((id, name), presence)| ThreadEntry {
        id,
        path: path.join(name),
        presence,
        is_listed: listed.contains(&id),
        options,
    };
    folders.into_iter().map(entry).collect()
}
