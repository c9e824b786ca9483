//! The two kinds of file: index and detail.

use std::path::Path;

use crate::error::Result;
use crate::source::{Input, OpenOptions};
use crate::wire::{DETAIL_MAGIC, INDEX_MAGIC};

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
            INDEX_MAGIC => Some(Self::Index),
            DETAIL_MAGIC => Some(Self::Detail),
            _ => None,
        }
    }

    /// Returns the kind of a file, or `None` if it does not begin with the magic bytes of either
    /// kind.
    ///
    /// # Errors
    ///
    /// The errors of [`FileSource::open`](crate::FileSource::open), and read errors.
    pub fn of(path: impl AsRef<Path>) -> Result<Option<Self>> {
        let input = Input::open(path.as_ref(), OpenOptions::new())?;
        let mut magic = [0; 4];
        let read = input.read(0, &mut magic)?;
        Ok(Self::from_magic(magic).filter(|_| read == magic.len()))
    }
}
