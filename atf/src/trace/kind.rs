//! The kinds of files and folders at a path.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind, Result, at};
use crate::files::{DETAIL_FILE, has_extension};
use crate::kind::{FileKind, FolderKind};
use crate::session::Search;
use crate::wire::RingHeader;

/// The kind of file or folder at a path. Symlinks are followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathKind {
    /// A thread's file. It has the magic bytes of its kind, or it may be a damaged one: its
    /// extension matches, it is too short, or it begins with zeros.
    File(FileKind),
    /// A thread's folder.
    Thread,
    /// A session's folder.
    Session,
    /// Any other folder with sessions below it: their paths, at least one, ordered by name.
    Sessions(Vec<PathBuf>),
}

impl PathKind {
    /// Determines what a path refers to. Reads only the magic bytes of files and the names in
    /// folders.
    ///
    /// # Errors
    ///
    /// Operating system errors; [`ErrorKind::NotATrace`]; for a folder, the errors of [`Search`].
    pub fn detect(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        if !fs::metadata(path).map_err(at(path))?.is_dir() {
            return Ok(Self::File(match FileKind::detect(path)? {
                Some(kind) => kind,
                None => damaged(path)?,
            }));
        }
        match FolderKind::detect(path).map_err(at(path))? {
            Some(FolderKind::Session) => return Ok(Self::Session),
            Some(FolderKind::Thread) => return Ok(Self::Thread),
            None => {}
        }
        let mut sessions = Search::new(path).collect::<Result<Vec<_>>>()?;
        sessions.sort();
        if sessions.is_empty() {
            let found = "no thread files, no session and no folder with sessions";
            return Err(not_a_trace(path, found.to_owned()));
        }
        Ok(Self::Sessions(sessions))
    }

    /// Returns whether this is one file or one thread's folder.
    #[must_use]
    pub const fn is_single_thread(&self) -> bool {
        matches!(self, Self::File(_) | Self::Thread)
    }
}

/// Returns the kind of a file without magic bytes, which may be damaged.
fn damaged(path: &Path) -> Result<FileKind> {
    let mut begin = Vec::new();
    let file = File::open(path).map_err(at(path))?;
    file.take(4).read_to_end(&mut begin).map_err(at(path))?;
    if begin == RingHeader::MAGIC {
        let found = "a thread's kill journal, which is read with the thread's folder (`atf explain` shows it alone)";
        return Err(not_a_trace(path, found.to_owned()));
    }
    let is_blank = begin.len() < 4 || begin == [0; 4];
    if !has_extension(path) && !is_blank {
        let found = format!("a file that begins with \"{}\"", begin.escape_ascii());
        return Err(not_a_trace(path, found));
    }
    Ok(match path.file_name() {
        Some(name) if name == OsStr::new(DETAIL_FILE) => FileKind::Detail,
        _ => FileKind::Index,
    })
}

fn not_a_trace(path: &Path, found: String) -> Error {
    Error::new(ErrorKind::NotATrace { found }).with_path(Some(path))
}
