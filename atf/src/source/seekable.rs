//! A source over anything that can read and seek.

use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Mutex, PoisonError};

use super::ReadAt;
use crate::error::{Error, Result};

/// A source over anything that can read and seek: a file in an archive, a cursor, a socket's cache.
///
/// The inner source has a single position, so a lock guards it: each read takes the lock and seeks,
/// and readers on several threads wait for each other. Iterators and cursors read through windows
/// of up to 256 KiB, so they seek rarely, but single lookups may each seek. If you have a path or
/// the bytes themselves, open those instead.
///
/// ```
/// use atf::Seekable;
/// use atf::index::IndexReader;
/// use std::io::Cursor;
#[doc = include_str!("../doc_setup/thread.md")]
/// let bytes = std::fs::read(folder.join("index.atf")).unwrap();
/// let index = IndexReader::from_source(Seekable::new(Cursor::new(bytes))?)?;
/// assert_eq!(index.event_count(), 2);
/// # Ok::<(), atf::Error>(())
/// ```
#[derive(Debug)]
pub struct Seekable<T> {
    inner: Mutex<T>,
    size: u64,
}

impl<T: Read + Seek + Send> Seekable<T> {
    /// Determines the size once, by seeking to the end, so bytes appended later are ignored.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) if the source cannot seek.
    pub fn new(mut inner: T) -> Result<Self> {
        let size = inner.seek(SeekFrom::End(0)).map_err(Error::io)?;
        Ok(Self {
            inner: Mutex::new(inner),
            size,
        })
    }

    /// Returns the inner source. Its position is unspecified.
    pub fn into_inner(self) -> T {
        self.inner
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Read + Seek + Send> ReadAt for Seekable<T> {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        // Ignore lock poisoning: each read seeks first.
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.seek(SeekFrom::Start(offset))?;
        inner.read(buffer)
    }
}
