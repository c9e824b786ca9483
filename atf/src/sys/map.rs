//! Mappings of files.

use std::io;

use bytes::Bytes;
use memmap2::MmapOptions;

use crate::source::{FileSource, OpenOptions, ReadAt};

/// That someone promised what [`OpenOptions::mapped`] asks for; nothing else makes one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MapPermit(());

impl OpenOptions {
    /// Maps files into memory instead of reading them at positions.
    ///
    /// Lookups at random places are some fifteen times faster, and
    /// [`slice`](crate::index::IndexReader::slice) shows events without copying them. Scans are as
    /// fast either way.
    ///
    /// # Safety
    ///
    /// As long as a reader lives that was opened with these options, nobody may change its files
    /// or make them shorter: no thread of this process, no other process. A file that shrinks
    /// kills the process with `SIGBUS` at the next look at a page that is gone, and bytes behind
    /// its end in the last page silently read as 0. A file that changes makes the compiler's
    /// assumption wrong that what was checked stays as it was: undefined behaviour. Files on a
    /// network or a disk that fails are subject to the same.
    ///
    /// It is for those who own the files. One that is still being written is not to be mapped: its
    /// writer rewrites the header at the end.
    #[must_use]
    pub const unsafe fn mapped(mut self) -> Self {
        self.map = Some(MapPermit(()));
        self
    }
}

/// The bytes of a regular file, mapped as long as it was when it was opened.
pub(crate) fn map(file: &FileSource, _: MapPermit) -> io::Result<Bytes> {
    let size = usize::try_from(file.size()).map_err(|_| io::ErrorKind::FileTooLarge)?;
    // SAFETY: a permit is made only by `OpenOptions::mapped`, whose caller promises that
    // nobody changes or shortens the file as long as a reader lives; the mapping lives in the
    // reader's input and no longer, and it is read only. `FileSource` holds regular files.
    let mapped = unsafe { MmapOptions::new().len(size).map(&file.file) }?;
    Ok(Bytes::from_owner(mapped))
}
