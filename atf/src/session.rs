//! A traced process: its threads and its manifest.

mod below;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::detail::DetailReader;
use crate::error::{Error, ErrorKind, Result};
use crate::files::{
    DETAIL_FILE, INDEX_FILE, PROCESS_FOLDER, RECOVERY, RING_FILE, has_extension, is_numbered,
    number,
};
use crate::index::IndexReader;
use crate::kind::FolderKind;
use crate::manifest::Manifest;
use crate::platform::{self, Identity};
use crate::rules::table as rules;
use crate::source::{Input, OpenOptions};
use crate::symbols::{Places, Symbols};
use crate::thread::{self, ThreadReader};

pub use crate::files::{MANIFEST_FILE, ProcessName, SEARCH_DEPTH, THREAD_FOLDER, thread_id};
pub use below::Search;

/// The maximum number of threads without a folder, because a hostile manifest can list one for every
/// nine bytes.
const MOST_MISSING: usize = 16_384;

/// A reader for a session: a folder with `manifest.json` and a `thread_N` folder for each thread.
///
/// A session's threads are those with a folder, and at most 16,384 others that the manifest lists.
/// A problem in the manifest or in one thread never prevents other threads from being read.
/// [`ThreadEntry::open`] opens a thread's files, and dropping the reader closes them, so a session
/// may have more threads than a process may have open files.
///
/// A `session_…` folder with a single `pid_N` folder is opened as that process, and any other folder
/// with a single session below it, at any depth, as that session.
///
/// A clone is cheap, because it shares everything with the original.
///
/// The reader is a snapshot: threads and names written later are not included. To read a session
/// while it is being written, use [`SessionFollower`](crate::follow::SessionFollower).
///
/// ```
/// use atf::session::SessionReader;
#[doc = include_str!("doc_setup/session.md")]
/// let session = SessionReader::open(path)?;
/// for entry in session.threads() {
///     match entry.open() {
///         Ok(thread) => println!("{}: {} events", entry.id(), thread.index().event_count()),
///         Err(error) => eprintln!("{error}"),
///     }
/// }
/// assert_eq!(session.summary().index_events, 4);
/// # Ok::<(), atf::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SessionReader(Arc<Contents>);

#[derive(Debug)]
struct Contents {
    path: PathBuf,
    manifest: Option<Manifest>,
    threads: Vec<ThreadEntry>,
    unrecognized: Vec<String>,
    places: Places,
}

impl SessionReader {
    /// Opens a session's folder, but not its threads.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`] if a folder cannot be listed; [`ErrorKind::NotASession`] if there is no
    /// session in the folder or in the first 1,000 folders below it; [`ErrorKind::SeveralProcesses`]
    /// if the folder contains the sessions of several processes; [`ErrorKind::SessionsBelow`] if
    /// there are several other sessions below it, or one and more than 1,000 folders.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, OpenOptions::new())
    }

    /// Opens a session's folder. Threads will be opened with the same `options`.
    ///
    /// # Errors
    ///
    /// The errors of [`open`](Self::open).
    pub fn open_with(path: impl AsRef<Path>, options: OpenOptions) -> Result<Self> {
        let path = path.as_ref();
        match Self::of_process(path, options)? {
            Ok(session) => Ok(session),
            Err(folders) => {
                let links = folders.links.into_iter().map(|(_, name)| path.join(name));
                let only = below::only_session(path, links.collect())?;
                if only.is_symlink() && !options.follow_links {
                    return Err(Error::symlink(&only));
                }
                let session = Self::of_process(&only, options)?;
                session.map_err(|_| Error::new(ErrorKind::NotASession).with_path(Some(path)))
            }
        }
    }

    /// Opens the session that a thread's folder belongs to, if any.
    #[must_use]
    pub fn around(thread_folder: &Path) -> Option<Self> {
        let folder = thread_folder.canonicalize().ok()?;
        let session = Self::open(folder.parent()?).ok()?;
        let mut threads = session.threads().iter();
        let is_in = threads.any(|entry| entry.path().file_name() == folder.file_name());
        is_in.then_some(session)
    }

    /// Returns the session whose manifest or thread folders are directly in `path`. If there is
    /// none, returns the folders in `path`.
    fn of_process(path: &Path, options: OpenOptions) -> Result<Result<Self, Folders>> {
        let folders = Folders::list(path).map_err(|error| error.with_path(Some(path)))?;
        let manifest_path = path.join(MANIFEST_FILE);
        let mut manifest = Manifest::in_session(&manifest_path, options);
        if manifest.is_none() && folders.threads.is_empty() {
            return Ok(Err(folders));
        }
        Ok(Ok(Self(Arc::new(Contents {
            path: path.to_path_buf(),
            threads: entries(path, folders.threads, manifest.as_ref(), options),
            places: Places::new(manifest.as_mut(), Some(&manifest_path)),
            manifest,
            unrecognized: folders.unrecognized,
        }))))
    }

    /// Returns the folder that contains the threads.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Returns the manifest's contents and problems; `None` if there is no manifest.
    #[must_use]
    pub fn manifest(&self) -> Option<&Manifest> {
        self.0.manifest.as_ref()
    }

    /// Returns the threads in ascending order of id.
    #[must_use]
    pub fn threads(&self) -> &[ThreadEntry] {
        &self.0.threads
    }

    /// Returns the names of folders and symlinks that begin with `thread_` but do not end in a
    /// thread id.
    #[must_use]
    pub fn unrecognized(&self) -> &[String] {
        &self.0.unrecognized
    }

    /// Returns the function names from the manifest.
    #[must_use]
    pub fn symbols(&self) -> Symbols<'_> {
        Symbols::new(self.0.manifest.as_ref(), &self.0.places)
    }

    /// Returns the problems with the session itself: those in the manifest, except those that
    /// readers [ignore](ErrorKind::is_ignored); what a recovery lost; and folders that were not read
    /// because their names do not contain a thread id. For problems with a thread, see its
    /// [reader](ThreadEntry::open).
    #[must_use]
    pub fn problems(&self) -> Vec<Error> {
        let manifest = self.0.manifest.iter().flat_map(|it| &it.problems);
        let manifest = manifest.filter(|problem| !problem.kind().is_ignored());
        let lost = self.0.manifest.iter().flat_map(Manifest::lost_in_recovery);
        let lost = lost.map(|error| error.with_path(Some(&self.0.path.join(MANIFEST_FILE))));
        let unrecognized = self.0.unrecognized.iter().map(|name| {
            let error = Error::new(ErrorKind::NoThreadId).with_rule(&rules::ATF_SESS_004);
            error.with_path(Some(&self.0.path.join(name)))
        });
        manifest.cloned().chain(lost).chain(unrecognized).collect()
    }

    /// Returns an error for each loss of a recovery in a thread. [`problems`](Self::problems)
    /// includes those of all threads.
    pub(crate) fn lost_in(&self, thread: u32) -> Vec<Error> {
        let is_of_thread = |problem: &Error| {
            let kind = problem.kind();
            matches!(kind, ErrorKind::LostInRecovery { thread: Some(lost), .. } if *lost == thread)
        };
        self.problems().into_iter().filter(is_of_thread).collect()
    }

    /// Opens the threads one after another and adds up their totals.
    #[must_use]
    pub fn summary(&self) -> SessionSummary {
        let mut summary = SessionSummary::default();
        for entry in &self.0.threads {
            let added = entry.open().and_then(|thread| summary.add(&thread));
            if added.is_err() {
                summary.unreadable = summary.unreadable.saturating_add(1);
            }
        }
        summary
    }
}

/// A problem with a session or one of its threads.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Problem {
    /// The position of the problem's session among the sessions of all merged processes; 0 if there is
    /// only one.
    pub session: u32,
    /// The id in the name of the thread's folder; `None` if the problem is with the session itself.
    pub thread: Option<u32>,
    /// The error, including the file's path.
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

/// The kind of file at the path of a thread's folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Presence {
    /// A folder.
    Folder,
    /// A symlink. It could lead out of the session, so it is not followed unless
    /// [`OpenOptions::follow_links`] is set.
    SymbolicLink,
    /// Neither a folder nor a symlink.
    NotAFolder,
    /// Nothing exists there: the thread is only listed in the manifest.
    Missing,
}

impl ThreadEntry {
    /// Creates the entry of a folder that was opened without its session.
    pub(crate) fn alone(id: u32, folder: &Path) -> Self {
        Self {
            id,
            path: folder.to_path_buf(),
            presence: Presence::Folder,
            is_listed: false,
            options: OpenOptions::new(),
        }
    }

    /// Returns the id in the folder's name.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Returns the folder's path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns what exists at the folder's path.
    #[must_use]
    pub fn presence(&self) -> Presence {
        self.presence
    }

    /// Returns whether the manifest lists the thread.
    #[must_use]
    pub fn is_listed(&self) -> bool {
        self.is_listed
    }

    /// Opens the thread's files.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::SymbolicLink`], [`ErrorKind::MissingFolder`], and the errors of
    /// [`ThreadReader::open`].
    pub fn open(&self) -> Result<ThreadReader> {
        self.check_presence()?;
        ThreadReader::open_with(&self.path, self.options)
    }

    /// Opens only the index. This saves the pass over the detail file that finds where each detail
    /// begins.
    ///
    /// # Errors
    ///
    /// The errors of [`open`](Self::open).
    pub fn open_index(&self) -> Result<IndexReader> {
        self.open_index_as(true)
    }

    /// Like [`open_index`](Self::open_index), but closes the file between reads unless
    /// `is_kept_open`.
    pub(crate) fn open_index_as(&self, is_kept_open: bool) -> Result<IndexReader> {
        self.check_presence()?;
        let open = if is_kept_open {
            Input::open_in_session
        } else {
            Input::open_briefly
        };
        thread::open_index(&self.path, self.options, open)
    }

    /// Returns the problems with the thread's details and with the links to them. `index` is a
    /// reader of the thread's index that has read all events.
    #[must_use]
    pub fn problems_beside(&self, index: &IndexReader) -> Vec<Error> {
        thread::problems_beside(index, &self.path, self.options)
    }

    fn check_presence(&self) -> Result<()> {
        match self.presence {
            Presence::Folder | Presence::NotAFolder => Ok(()),
            Presence::SymbolicLink if self.options.follow_links => Ok(()),
            Presence::SymbolicLink => Err(Error::symlink(&self.path)),
            Presence::Missing => {
                Err(Error::new(ErrorKind::MissingFolder).with_path(Some(&self.path)))
            }
        }
    }
}

/// Totals over a session's threads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionSummary {
    /// The number of threads that were opened.
    pub threads: u64,
    /// The number of threads that could not be opened.
    pub unreadable: u64,
    /// The number of index events in all threads.
    pub index_events: u64,
    /// The number of detail events in all threads.
    pub detail_events: u64,
    /// The earliest and the latest timestamp in nanoseconds, over threads with events.
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
        let ranges = self.time_range.into_iter().chain(times);
        self.time_range = ranges.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)));
        Ok(())
    }
}

/// The contents of a session's folder.
#[derive(Default)]
pub(crate) struct Folders {
    /// Thread folders, by id and name.
    pub(crate) threads: BTreeMap<(u32, String), Presence>,
    unrecognized: Vec<String>,
    /// Symlinks named `pid_N`, by id and name.
    links: BTreeSet<(u32, String)>,
}

impl Folders {
    pub(crate) fn list(path: &Path) -> Result<Self> {
        let mut this = Self::default();
        for entry in fs::read_dir(path).map_err(Error::io)? {
            let entry = entry.map_err(Error::io)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if let Some(id) = name.strip_prefix(PROCESS_FOLDER).and_then(number) {
                let file_type = entry.file_type().map_err(Error::io)?;
                if file_type.is_symlink() {
                    this.links.insert((id, name));
                }
                continue;
            }
            if !name.starts_with(THREAD_FOLDER) {
                continue;
            }
            let presence = match entry.file_type().map_err(Error::io)? {
                file_type if file_type.is_symlink() => Presence::SymbolicLink,
                file_type if file_type.is_dir() => Presence::Folder,
                _ => Presence::NotAFolder,
            };
            match thread_id(&name) {
                Some(id) => {
                    this.threads.insert((id, name), presence);
                }
                // A file, such as thread_names.json, is not a misnamed thread.
                None if presence == Presence::NotAFolder => {}
                None => this.unrecognized.push(name),
            }
        }
        this.unrecognized.sort();
        Ok(this)
    }
}

/// Returns whether a file or folder written to `path` would become part of an existing trace: it
/// has the name of a manifest, a recovery's report, a thread's file or a thread's folder, and is in
/// a folder with threads or their files. Does not follow a symlink at `path` itself.
#[doc(hidden)]
#[must_use]
pub fn is_part_of_trace(path: &Path) -> bool {
    let Some(name) = path.file_name().map(OsStr::to_string_lossy) else {
        return false;
    };
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let is_trace = || {
        is_thread(folder) || Folders::list(folder).is_ok_and(|folders| !folders.threads.is_empty())
    };
    (is_file_name(&name) || name.starts_with(THREAD_FOLDER)) && is_trace()
}

/// Returns whether a folder directly contains a thread's files.
pub(crate) fn is_thread(folder: &Path) -> bool {
    let exists = |name| fs::symlink_metadata(folder.join(name)).is_ok();
    exists(INDEX_FILE) || exists(DETAIL_FILE)
}

/// Returns whether a session has files of this name: a manifest, a recovery's report or a thread's
/// file.
fn is_file_name(name: &str) -> bool {
    [MANIFEST_FILE, INDEX_FILE, DETAIL_FILE, RING_FILE].contains(&name)
        || is_numbered(name, RECOVERY.0, RECOVERY.1)
}

/// Returns whether the file at `path` belongs to one of these traces, even under another name: a
/// symlink or a hard link. A trace is a file, or a folder with traces below it.
///
/// # Errors
///
/// Operating system errors. An unreadable folder of a trace is an error if the file has several
/// names, because one of them may be in that folder.
#[doc(hidden)]
pub fn is_file_of(traces: &[PathBuf], path: &Path) -> io::Result<bool> {
    let found = match fs::metadata(path) {
        Ok(found) if found.is_file() => found,
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => return Ok(false),
    };
    let own = fs::canonicalize(path)?;
    let is_own = |trace: &PathBuf| fs::canonicalize(trace).is_ok_and(|trace| trace == own);
    if traces.iter().any(is_own) {
        return Ok(true);
    }
    if !platform::has_other_names(&found) {
        return Ok(false);
    }
    let own = Identity::new(&found);
    let mut folders = Vec::new();
    for trace in traces {
        match fs::metadata(trace) {
            Ok(found) if found.is_dir() => folders.push(trace.clone()),
            Ok(found) if Identity::new(&found) == own => return Ok(true),
            _ => {}
        }
    }
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let (file_type, name) = (entry.file_type()?, entry.file_name());
            if file_type.is_dir() {
                folders.push(entry.path());
            } else if (is_file_name(&name.to_string_lossy()) || has_extension(Path::new(&name)))
                && Identity::new(&entry.metadata()?) == own
            {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Returns whether a folder is a [session](FolderKind::Session).
///
/// # Errors
///
/// An operating system error if the folder cannot be listed.
pub fn is_session(folder: &Path) -> io::Result<bool> {
    Ok(FolderKind::detect(folder)? == Some(FolderKind::Session))
}

/// Returns the threads that have a folder or a manifest entry, sorted by id.
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
    let most = folders.len().saturating_add(MOST_MISSING);
    for id in &listed {
        // A folder with another name can also have this id: `thread_01` is also thread 1.
        if folders.len() < most
            && folders
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
