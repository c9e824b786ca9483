//! Wraps a source for readers, with its size, its path and its unreadable ranges.

use std::fs;
use std::io::{self, Read as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::{AroundErrors, FileSource, OpenOptions, ReadAt, Reopened, Unreadable};
use crate::error::{Error, ErrorKind, Result, at};
use crate::platform;
use crate::sys::{self, Memory};

/// The distance in bytes within which a search for holes is not worth a query.
pub(crate) const NEAR: u64 = 64 << 10;

/// The location of the bytes. In-memory bytes are a separate variant, so that lookups need no call
/// through a pointer.
enum Source {
    InMemory(Memory),
    Other(Box<dyn ReadAt>),
}

/// A source with the size it had when it was opened, and the path for error messages.
pub(crate) struct Input {
    source: Source,
    size: u64,
    /// Whether the source had its bytes in memory when it was opened. This avoids a query at each
    /// lookup.
    is_in_memory: bool,
    path: Option<PathBuf>,
    pub(super) unreadable: Unreadable,
    /// The offset of the appended bytes, and their offset in the file that they come from.
    pub(super) appended: Option<(u64, u64)>,
}

impl Input {
    pub(crate) fn new(source: impl ReadAt + 'static) -> Self {
        Self::with_size(source.size(), Source::Other(Box::new(source)))
    }

    /// Creates an input from a source opened at `path`.
    pub(crate) fn at(path: &Path, source: impl ReadAt + 'static) -> Self {
        Self::new(source).opened_at(path)
    }

    pub(crate) fn from_bytes(bytes: Vec<u8>) -> Self {
        Self::in_memory(Memory::Owned(bytes))
    }

    fn in_memory(bytes: Memory) -> Self {
        Self::with_size(bytes.len() as u64, Source::InMemory(bytes))
    }

    fn opened_at(self, path: &Path) -> Self {
        let path = Some(path.to_path_buf());
        Self { path, ..self }
    }

    /// Replaces this input with a source that reads from it.
    pub(super) fn wrapped<S: ReadAt + 'static>(self, wrap: impl FnOnce(Self) -> S) -> Self {
        Self {
            path: self.path.clone(),
            unreadable: self.unreadable.clone(),
            appended: self.appended,
            ..Self::new(wrap(self))
        }
    }

    fn with_size(size: u64, source: Source) -> Self {
        let is_in_memory = match &source {
            Source::InMemory(_) => true,
            Source::Other(source) => source.as_bytes().is_some(),
        };
        Self {
            source,
            size,
            is_in_memory,
            path: None,
            unreadable: Unreadable::default(),
            appended: None,
        }
    }

    /// Opens a standalone file. Follows symlinks.
    pub(crate) fn open(path: &Path, options: OpenOptions) -> Result<Self> {
        Self::of_file(path, FileSource::open(path)?, options)
    }

    fn of_file(path: &Path, file: FileSource, options: OpenOptions) -> Result<Self> {
        if options.around_errors {
            let source = AroundErrors::new(file).map_err(at(path))?;
            return Ok(Self {
                unreadable: source.unreadable.clone(),
                ..Self::at(path, source)
            });
        }
        match options.map {
            Some(permit) => {
                let bytes = sys::map(&file, permit).map_err(at(path))?;
                Ok(Self::in_memory(bytes).opened_at(path))
            }
            None => Ok(Self::at(path, file)),
        }
    }

    /// Opens a file of a session. Refuses symlinks, which could lead out of the session, unless the
    /// options allow them.
    pub(crate) fn open_in_session(path: &Path, options: OpenOptions) -> Result<Self> {
        Self::of_file(path, source_in_session(path, options)?, options)
    }

    /// Like [`open_in_session`](Self::open_in_session), for a file that is read more than once:
    /// reads a small enough file into memory.
    pub(crate) fn open_detail(path: &Path, options: OpenOptions) -> Result<Self> {
        let file = source_in_session(path, options)?;
        if options.map.is_some() || options.around_errors || options.detail_in_memory == 0 {
            return Self::of_file(path, file, options);
        }
        let size = usize::try_from(file.size()).unwrap_or(usize::MAX);
        let mut bytes = Vec::new();
        if file.size() > options.detail_in_memory || bytes.try_reserve_exact(size).is_err() {
            return Ok(Self::at(path, file));
        }
        let read = (&file.file).take(file.size()).read_to_end(&mut bytes);
        let read = read.and_then(|read| platform::still_stored(&file.file, 0, read));
        let read = read.map_err(at(path))?;
        match size.saturating_sub(read) as u64 {
            0 => Ok(Self::from_bytes(bytes).opened_at(path)),
            missing => Err(Error::new(ErrorKind::UnexpectedEnd { missing }).with_path(Some(path))),
        }
    }

    /// Like [`open_in_session`](Self::open_in_session), for one of very many files: the file is
    /// open only during reads.
    pub(crate) fn open_briefly(path: &Path, options: OpenOptions) -> Result<Self> {
        let file = source_in_session(path, options)?;
        // A mapping needs no open file.
        if options.map.is_some() {
            return Self::of_file(path, file, options);
        }
        Ok(Self::at(path, Reopened::new(path, &file)?))
    }

    /// Splits a range into the part in the file itself and the part in the appended bytes. The
    /// second part is given by its offsets in the file that those bytes come from.
    pub(crate) fn split(&self, range: Range<u64>) -> (Range<u64>, Range<u64>) {
        let Some((appended, origin)) = self.appended else {
            return (range, 0..0);
        };
        let middle = appended.max(range.start).min(range.end);
        let place = |offset: u64| offset.saturating_sub(appended).saturating_add(origin);
        (range.start..middle, place(middle)..place(range.end))
    }

    /// Returns the unreadable ranges, which read as zeros.
    pub(crate) fn unreadable(&self) -> &Unreadable {
        &self.unreadable
    }

    /// Returns the size in bytes that the source had when it was opened.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    pub(crate) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    pub(crate) fn error(&self, kind: ErrorKind) -> Error {
        Error::new(kind).with_path(self.path())
    }

    /// Returns all bytes if they are in memory and their number matches the source's size.
    #[inline]
    pub(crate) fn as_bytes(&self) -> Option<&[u8]> {
        match &self.source {
            Source::InMemory(bytes) => Some(bytes),
            Source::Other(_) if !self.is_in_memory => None,
            Source::Other(source) => source
                .as_bytes()
                .filter(|bytes| bytes.len() as u64 == self.size),
        }
    }

    /// Returns the bytes from `start` to `end`, if they are in memory.
    #[inline]
    pub(crate) fn slice(&self, start: u64, end: u64) -> Option<&[u8]> {
        let range = usize::try_from(start).ok()?..usize::try_from(end).ok()?;
        self.as_bytes()?.get(range)
    }

    /// Returns the `N` bytes at `offset`, if they are in memory.
    #[inline]
    pub(crate) fn record_in_memory<const N: usize>(&self, offset: u64) -> Option<&[u8; N]> {
        let rest = self.as_bytes()?.get(usize::try_from(offset).ok()?..)?;
        rest.first_chunk()
    }

    pub(crate) fn read_exact(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let wanted = buffer.len();
        let read = self.read(offset, buffer)?;
        let missing = wanted.saturating_sub(read) as u64;
        if missing == 0 {
            return Ok(());
        }
        Err(self
            .error(ErrorKind::UnexpectedEnd { missing })
            .with_offset(offset))
    }

    #[inline]
    pub(crate) fn record<const N: usize>(&self, offset: u64) -> Result<[u8; N]> {
        if let Some(record) = self.record_in_memory(offset) {
            return Ok(*record);
        }
        let mut record = [0; N];
        self.read_exact(offset, &mut record)?;
        Ok(record)
    }

    /// Returns the offset of the next stored byte at or after `offset`, or `None` if nothing more is
    /// stored. See [`ReadAt::next_data`].
    pub(crate) fn next_data(&self, offset: u64) -> Result<Option<u64>> {
        let Source::Other(source) = &self.source else {
            return Ok(Some(offset));
        };
        let data = sys::uncancelled(|| source.next_data(offset));
        let data = data.map_err(|error| self.failed(offset, error))?;
        // Do not rely on the source to advance.
        Ok(data.map(|data| data.max(offset)))
    }

    /// Returns the offset between `start` and `end` after which there is only a hole. The result
    /// may be up to 64 KiB too large.
    pub(crate) fn stored_end(&self, start: u64, end: u64) -> Result<u64> {
        let stored_in = |start, end| -> Result<Option<u64>> {
            let data = self.next_data(start)?;
            Ok(data.filter(|data| *data < end))
        };
        let (mut end, mut step) = (end, NEAR);
        // Double the steps backward, so that one query is enough if there is no hole.
        let mut stored = loop {
            let offset = end.saturating_sub(step).max(start);
            match stored_in(offset, end)? {
                Some(data) => break data,
                None if offset == start => return Ok(start),
                None => (end, step) = (offset, step.saturating_mul(2)),
            }
        };
        while end.saturating_sub(stored) > NEAR {
            let middle = stored.midpoint(end);
            match stored_in(middle, end)? {
                Some(data) => stored = data,
                None => end = middle,
            }
        }
        Ok(end)
    }

    /// Reads until the buffer is full or the source ends, and returns the number of bytes read.
    pub(crate) fn read(&self, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        match self.fill(offset, buffer) {
            (read, None) => Ok(read),
            (_, Some(error)) => Err(self.failed(offset, error)),
        }
    }

    fn failed(&self, offset: u64, error: io::Error) -> Error {
        Error::io(error).with_path(self.path()).with_offset(offset)
    }

    /// Like [`read`](Self::read), but an error after the first `least` bytes only ends the read,
    /// because the caller has not yet requested the bytes after these.
    pub(crate) fn read_ahead(&self, offset: u64, buffer: &mut [u8], least: u64) -> Result<usize> {
        let size = buffer.len();
        let least = usize::try_from(least).map_or(size, |least| least.min(size));
        match self.fill(offset, buffer) {
            (read, None) => Ok(read),
            (read, Some(_)) if read >= least => Ok(read),
            // Some sources fail the whole read although some of the bytes are readable.
            (_, Some(_)) if least < size => self.read(offset, buffer.split_at_mut(least).0),
            (_, Some(error)) => Err(self.failed(offset, error)),
        }
    }

    /// Reads until the buffer is full, the source ends or a read fails. Returns the number of bytes
    /// read and the error.
    fn fill(&self, offset: u64, buffer: &mut [u8]) -> (usize, Option<io::Error>) {
        let mut filled = 0_usize;
        while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            let at = offset.saturating_add(filled as u64);
            let read = match &self.source {
                Source::InMemory(bytes) => (&bytes[..]).read_at(at, rest),
                // C's readers rely on this: their threads must not be cancelled during a read.
                Source::Other(source) => sys::uncancelled(|| source.read_at(at, rest)),
            };
            match read {
                Ok(0) => break,
                Ok(read) => filled = filled.saturating_add(read),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return (filled.min(buffer.len()), Some(error)),
            }
        }
        (filled.min(buffer.len()), None)
    }
}

/// Opens a file of a session. Rejects a symlink, unless the options allow following it.
pub(crate) fn source_in_session(path: &Path, options: OpenOptions) -> Result<FileSource> {
    if options.follow_links {
        return FileSource::open(path);
    }
    if fs::symlink_metadata(path).map_err(at(path))?.is_symlink() {
        Err(Error::symlink(path))
    } else {
        FileSource::open_as(path, false)
    }
}

impl std::fmt::Debug for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Input")
            .field("path", &self.path)
            .field("size", &self.size)
            .finish()
    }
}
