//! Folders on systems where files are not opened relative to open folders.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::{Identity, exists};

/// A folder, found by its path.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    is_lent: bool,
}

impl Folder {
    /// Returns the folder at a path; an empty path is the working directory.
    pub(crate) fn open(path: &Path, is_lent: bool) -> io::Result<Self> {
        let path = path.to_path_buf();
        Ok(Self { path, is_lent })
    }

    pub(crate) fn folder(&self, below: &Path) -> io::Result<Self> {
        let path = self.path.join(below);
        if fs::symlink_metadata(&path)?.is_dir() {
            Self::open(&path, self.is_lent)
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    }

    /// Returns true, because std does not report the identity of folders.
    pub(crate) fn is_same(&self, _other: &Self) -> bool {
        true
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn is_lent(&self) -> bool {
        self.is_lent
    }

    pub(crate) fn make_folder(&self, below: &Path) -> io::Result<()> {
        make_folder(&self.path.join(below))
    }

    pub(crate) fn create(&self, below: &Path) -> io::Result<File> {
        create_new(&self.path.join(below))
    }

    pub(crate) fn open_file(&self, below: &Path) -> io::Result<File> {
        OpenOptions::new().write(true).open(self.path.join(below))
    }

    pub(crate) fn exists(&self, below: &Path) -> io::Result<bool> {
        exists(fs::symlink_metadata(self.path.join(below)))
    }

    pub(crate) fn is_folder(&self, below: &Path) -> bool {
        self.folder(below).is_ok()
    }

    pub(crate) fn rename(&self, below: &Path, to: &OsStr) -> io::Result<()> {
        let from = self.path.join(below);
        fs::rename(&from, from.with_file_name(to))
    }

    pub(crate) fn remove(&self, below: &Path) -> io::Result<()> {
        fs::remove_file(self.path.join(below))
    }

    pub(crate) fn remove_folder(&self, below: &Path) -> io::Result<()> {
        fs::remove_dir(self.path.join(below))
    }

    /// Does nothing: a folder cannot be opened as a file, and the file system persists names
    /// itself.
    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    /// Does nothing, like [`sync`](Self::sync).
    pub(crate) fn sync_folder(&self, _below: &Path) -> io::Result<()> {
        Ok(())
    }

    pub(crate) fn is_deleted(&self) -> io::Result<bool> {
        Ok(!self.path.try_exists()?)
    }

    pub(crate) fn fixed_path(&self) -> PathBuf {
        self.path.clone()
    }
}

pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).open(path)
}

pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}

/// Does nothing, because std does not report the identity of files.
pub(crate) fn same(_expected: Identity, _found: &File) -> io::Result<()> {
    Ok(())
}

/// A descriptor in a program that may close it. Never used, because no such program exists here.
#[derive(Debug)]
pub(crate) struct Lent;

impl Lent {
    pub(crate) fn new(_file: &File) -> Option<Self> {
        None
    }

    pub(crate) fn with<T>(&self, _work: impl FnOnce(&File) -> T) -> Option<T> {
        None
    }
}
