//! Sources that readers read from: regular files, in-memory bytes, and anything that can seek.

mod file;
mod followed;
mod input;
mod options;
mod reopened;
mod seekable;
mod unreadable;

use std::io;

pub use file::FileSource;
pub(crate) use followed::{Sparse, Tail};
pub(crate) use input::{Input, NEAR, source_in_session};
pub(crate) use options::MANIFEST_LIMIT;
pub use options::OpenOptions;
pub(crate) use reopened::Reopened;
pub use seekable::Seekable;
use unreadable::AroundErrors;
pub(crate) use unreadable::{Unreadable, gaps, is_bad_sector};

/// Bytes that can be read at any offset without a cursor.
///
/// Implement this trait to read from elsewhere, for example from an archive. Readers trust the
/// implementation as little as possible: they query the size once, and treat a read that ends early
/// as an error.
pub trait ReadAt: Send + Sync {
    /// Returns the size in bytes.
    fn size(&self) -> u64;

    /// Reads bytes at `offset` and returns the number of bytes read, which is 0 only at the end.
    ///
    /// # Errors
    ///
    /// Operating system errors. Readers retry interrupted reads.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;

    /// Returns the offset of the next stored byte at or after `offset`, or `None` if nothing more
    /// is stored. Bytes in between are a hole and read as zeros. Readers use this to skip the holes
    /// in sparse files.
    ///
    /// # Errors
    ///
    /// Operating system errors.
    fn next_data(&self, offset: u64) -> io::Result<Option<u64>> {
        Ok(Some(offset))
    }

    /// Returns all bytes if they are in memory, which saves readers a copy.
    fn as_bytes(&self) -> Option<&[u8]> {
        None
    }
}

impl ReadAt for &[u8] {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let mut rest = self.get(start..).unwrap_or_default();
        io::Read::read(&mut rest, buffer)
    }

    fn as_bytes(&self) -> Option<&[u8]> {
        Some(self)
    }
}

impl ReadAt for Vec<u8> {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.as_slice().read_at(offset, buffer)
    }

    fn as_bytes(&self) -> Option<&[u8]> {
        Some(self)
    }
}
