//! Finds the sessions at a path.

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use super::{SEARCH_DEPTH, is_session};
use crate::error::{Error, ErrorKind, Result, at};
use crate::files::{ProcessName, is_unfinished};

/// The maximum number of sessions that an error lists.
const MOST_NAMED: usize = 100;
/// How many folders to search to open the only session below one. There is a limit because the path
/// may be the root of a disk.
const MOST_SEARCHED: usize = 1000;

/// A search for sessions at a path, which finds the path itself or the sessions below it: the
/// nearest first, then by name.
///
/// Does not search [unfinished](is_unfinished) sessions or follow symlinks below the path. A folder
/// that cannot be listed, or is more than [`SEARCH_DEPTH`] folders deep, is an error, after which
/// the search continues.
///
/// ```
/// use atf::session::Search;
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path();
/// # std::fs::create_dir_all(path.join("traces/pid_7/thread_7")).unwrap();
///
/// let sessions = Search::new(path).collect::<atf::Result<Vec<_>>>()?;
/// assert_eq!(sessions, [path.join("traces/pid_7")]);
/// # Ok::<(), atf::Error>(())
/// ```
#[derive(Debug)]
pub struct Search {
    /// The folders to search, and how deep they are.
    folders: VecDeque<(PathBuf, usize)>,
    /// How many folders may still be searched.
    left: usize,
}

impl Search {
    /// Begins a search.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            folders: [(path.into(), 0)].into(),
            left: usize::MAX,
        }
    }

    /// Ends the search after this many folders.
    #[must_use]
    pub fn limit(mut self, folders: usize) -> Self {
        self.left = folders;
        self
    }

    /// Returns whether no folder is left to search.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.folders.is_empty()
    }

    /// Searches a folder. Returns whether it is a session.
    fn search(&mut self, folder: &Path, depth: usize) -> Result<bool> {
        if depth > SEARCH_DEPTH {
            return Err(Error::new(ErrorKind::TooDeep).with_path(Some(folder)));
        }
        if is_session(folder).map_err(at(folder))? {
            return Ok(true);
        }
        let mut below = Vec::new();
        for entry in fs::read_dir(folder).map_err(at(folder))? {
            let entry = entry.map_err(at(folder))?;
            let is_folder = entry.file_type().map_err(at(folder))?.is_dir();
            if is_folder && !is_unfinished(&entry.file_name()) {
                below.push(entry.path());
            }
        }
        below.sort();
        let below = below
            .into_iter()
            .map(|path| (path, depth.saturating_add(1)));
        self.folders.extend(below);
        Ok(false)
    }
}

impl Iterator for Search {
    type Item = Result<PathBuf>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            self.left = self.left.checked_sub(1)?;
            let (folder, depth) = self.folders.pop_front()?;
            match self.search(&folder, depth) {
                Ok(true) => return Some(Ok(folder)),
                Ok(false) => {}
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// Returns the folder's only process or, if it has none, the only session below it. Otherwise
/// returns an error that lists the sessions. `links` are the symlinks in the folder that have the
/// name of a process.
pub(super) fn only_session(folder: &Path, links: Vec<PathBuf>) -> Result<PathBuf> {
    let error = |kind| Err(Error::new(kind).with_path(Some(folder)));
    let mut search = Search::new(folder).limit(MOST_SEARCHED);
    let (mut found, mut unsearched) = (links, None);
    while found.len() < MOST_NAMED {
        match search.next() {
            Some(Ok(session)) => found.push(session),
            Some(Err(error)) => unsearched = unsearched.or(Some(error)),
            None => break,
        }
    }
    let process = |path: &PathBuf| {
        let name = ProcessName::from_path(path).filter(|_| path.parent() == Some(folder));
        name.map(|name| name.pid)
    };
    let mut processes = found.iter().filter(|path| process(path).is_some());
    match (processes.next(), &found[..], unsearched) {
        (_, [], _) => return error(ErrorKind::NotASession),
        (Some(only), ..) if processes.next().is_none() => return Ok(only.clone()),
        (None, [_], Some(error)) => return Err(error),
        (None, [only], None) if search.is_complete() => return Ok(only.clone()),
        _ => {}
    }
    let pids: BTreeSet<_> = found.iter().map(process).collect();
    let are_processes = found.len() > 1 && pids.len() == found.len() && !pids.contains(&None);
    if are_processes {
        found.sort_by_key(process);
    }
    let name = |path: PathBuf| {
        let below = path.strip_prefix(folder).unwrap_or(&path);
        below.display().to_string()
    };
    let folders = found.into_iter().map(name).collect();
    error(if are_processes {
        ErrorKind::SeveralProcesses { folders }
    } else {
        ErrorKind::SessionsBelow { folders }
    })
}
