//! Which of the two files it is.

use std::path::Path;

use crate::error::Result;
use crate::source::{Input, OpenOptions};
use crate::wire::{DetailHeader, INDEX_MAGIC};

/// Which of the two files of a thread it is.
///
/// A file given by name is known by its magic bytes: the sources give the names `index.atf` and
/// `detail.atf`, S2 also the extensions `.ati2` and `.atd2`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// `index.atf`.
    Index,
    /// `detail.atf`.
    Detail,
}

impl FileKind {
    /// The kind of file that begins with these bytes.
    #[must_use]
    pub fn from_magic(magic: [u8; 4]) -> Option<Self> {
        match magic {
            INDEX_MAGIC => Some(Self::Index),
            DetailHeader::MAGIC => Some(Self::Detail),
            _ => None,
        }
    }

    /// The kind of a file, or `None` where it begins with the magic bytes of neither.
    ///
    /// # Errors
    ///
    /// As [`FileSource::open`](crate::FileSource::open), or where the file cannot be read.
    pub fn of(path: impl AsRef<Path>) -> Result<Option<Self>> {
        let input = Input::open(path.as_ref(), OpenOptions::new())?;
        let mut magic = [0; 4];
        let read = input.read(0, &mut magic)?;
        Ok(Self::from_magic(magic).filter(|_| read == magic.len()))
    }
}
