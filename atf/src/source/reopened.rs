//! Files that are open only during reads.

use std::io;
use std::path::{Path, PathBuf};

use super::{FileSource, ReadAt};
use crate::error::{Error, ErrorKind, Result, at};
use crate::platform::Identity;

/// A regular file that is opened for each read and then closed, for sessions with more threads than
/// a process may have open files.
///
/// If the file is replaced by another one, reads fail with [`ErrorKind::Replaced`].
#[derive(Debug)]
pub(crate) struct Reopened {
    path: PathBuf,
    size: u64,
    identity: Identity,
}

impl Reopened {
    /// Creates a source for the file that was opened at `path`.
    pub(crate) fn new(path: &Path, file: &FileSource) -> Result<Self> {
        let metadata = file.file.metadata().map_err(at(path))?;
        Ok(Self {
            path: path.to_path_buf(),
            size: file.size(),
            identity: Identity::new(&metadata),
        })
    }

    /// Opens the same file again, unless another one has replaced it.
    fn again(&self) -> io::Result<FileSource> {
        let file = FileSource::open(&self.path).map_err(io::Error::other)?;
        if Identity::new(&file.file.metadata()?) != self.identity {
            return Err(io::Error::other(Error::new(ErrorKind::Replaced)));
        }
        Ok(file)
    }
}

impl ReadAt for Reopened {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.again()?.read_at(offset, buffer)
    }

    fn next_data(&self, offset: u64) -> io::Result<Option<u64>> {
        self.again()?.next_data(offset)
    }
}
