//! The kinds of files and folders.

use std::fs;
use std::io;
use std::path::Path;

use crate::error::Result;
use crate::files::{MANIFEST_FILE, is_thread_file, thread_id};
use crate::source::{Input, OpenOptions};
use crate::wire::decoded::{DetailHeader, IndexHeader};

/// One of the two files of a thread. This enum is exhaustive, because the format has no other files
/// of events.
///
/// Files are recognized by their magic bytes, not by name: the sources call them `index.atf` and
/// `detail.atf`, and S2 also uses the extensions `.ati2` and `.atd2`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// `index.atf`.
    Index,
    /// `detail.atf`.
    Detail,
}

impl FileKind {
    /// Returns the kind of file that begins with these magic bytes.
    #[must_use]
    pub fn from_magic(magic: [u8; 4]) -> Option<Self> {
        match magic {
            IndexHeader::MAGIC => Some(Self::Index),
            DetailHeader::MAGIC => Some(Self::Detail),
            _ => None,
        }
    }

    /// Returns the kind of a file, or `None` if it does not begin with the magic bytes of either
    /// kind.
    ///
    /// # Errors
    ///
    /// The errors of [`FileSource::open`](crate::FileSource::open), and read errors.
    pub fn detect(path: impl AsRef<Path>) -> Result<Option<Self>> {
        let input = Input::open(path.as_ref(), OpenOptions::new())?;
        let mut magic = [0; 4];
        let read = input.read(0, &mut magic)?;
        Ok(Self::from_magic(magic).filter(|_| read == magic.len()))
    }
}

/// A folder that belongs to a trace. Folders are recognized by the names in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FolderKind {
    /// A session: the folder contains a manifest, readable or not, or a thread's folder. If it also
    /// contains `index.atf` or `detail.atf`, they are not part of the session.
    Session,
    /// A thread's folder: it contains `index.atf` or `detail.atf`.
    Thread,
}

impl FolderKind {
    /// Returns the kind of a folder, or `None` if it is neither.
    ///
    /// # Errors
    ///
    /// An operating system error if the folder cannot be listed.
    pub fn detect(path: impl AsRef<Path>) -> io::Result<Option<Self>> {
        let mut kind = None;
        for entry in fs::read_dir(path)? {
            let name = entry?.file_name();
            if name == MANIFEST_FILE || thread_id(&name.to_string_lossy()).is_some() {
                return Ok(Some(Self::Session));
            }
            if is_thread_file(&name) {
                kind = Some(Self::Thread);
            }
        }
        Ok(kind)
    }
}
