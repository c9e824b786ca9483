//! Maps files into memory.

use std::io;
use std::ops::Deref;

use memmap2::{Mmap, MmapOptions};

use crate::source::{FileSource, OpenOptions, ReadAt};

/// Proof that a caller made the promise that [`OpenOptions::mapped`] requires. Only that function
/// creates a permit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MapPermit(());

impl OpenOptions {
    /// Maps files into memory instead of using positioned reads.
    ///
    /// Random lookups are about fifteen times faster, and
    /// [`slice`](crate::index::IndexReader::slice) accesses events without copying them. Scans are
    /// equally fast either way.
    ///
    /// # Safety
    ///
    /// While a reader opened with these options is alive, nothing may change or shorten its files,
    /// in this process or in any other. If a file shrinks, the next access to a missing page kills
    /// the process with `SIGBUS`, and bytes past the end in the last page silently read as 0. If a
    /// file changes, the behaviour is undefined, because the compiler assumes that checked bytes
    /// stay unchanged. The same applies to files on a network or on a failing disk.
    ///
    /// Use this only for files that you own. Do not map a file that is still being written, because
    /// its writer rewrites the header at the end.
    #[must_use]
    pub const unsafe fn mapped(mut self) -> Self {
        self.map = Some(MapPermit(()));
        self
    }
}

pub(crate) enum Memory {
    Owned(Vec<u8>),
    Mapped(Mmap),
}

impl Deref for Memory {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Self::Owned(bytes) => bytes,
            Self::Mapped(bytes) => bytes,
        }
    }
}

/// Maps a regular file, with the size it had when it was opened.
pub(crate) fn map(file: &FileSource, _: MapPermit) -> io::Result<Memory> {
    let size = usize::try_from(file.size()).map_err(|_| io::ErrorKind::FileTooLarge)?;
    // SAFETY: only `OpenOptions::mapped` creates a permit, and its caller promises that nothing
    // changes or shortens the file while a reader is alive. The mapping is read-only, belongs to
    // the reader's input, and does not outlive it. `FileSource` holds regular files.
    let mapped = unsafe { MmapOptions::new().len(size).map(&file.file) }?;
    Ok(Memory::Mapped(mapped))
}
