//! A file that grows at its end, with a buffer and a checksum.

use std::io;
use std::path::{Path, PathBuf};

use super::ring::Buffer;
use super::{Storage, StorageFile, at};
use crate::checksum::Crc32c;
use crate::detail::DetailEventHeader;
use crate::error::{Error, Result};
use crate::index::IndexEvent;
use crate::wire::{HEADER_SIZE, Wire};

/// A function that returns the size and number of whole events at the start of a buffer.
pub(super) type Whole = fn(&[u8]) -> (usize, u64);

pub(super) fn whole_events(bytes: &[u8]) -> (usize, u64) {
    let count = bytes.len() / IndexEvent::SIZE;
    (count.saturating_mul(IndexEvent::SIZE), count as u64)
}

pub(super) fn whole_details(bytes: &[u8]) -> (usize, u64) {
    let (mut end, mut count) = (0_usize, 0_u64);
    while let Some(header) = bytes.get(end..).and_then(|rest| rest.first_chunk()) {
        let header = DetailEventHeader::decode(Wire::V1, 0, header);
        let size = usize::try_from(header.total_length).unwrap_or(usize::MAX);
        match end.checked_add(size).filter(|end| *end <= bytes.len()) {
            Some(next) if size > 0 => end = next,
            _ => break,
        }
        count = count.saturating_add(1);
    }
    (end, count)
}

/// One of a thread's two files while it is being written: header, events, and a buffer for more
/// events.
#[derive(Debug)]
pub(super) struct Section {
    path: PathBuf,
    file: Box<dyn StorageFile>,
    buffer: Buffer,
    /// The number of bytes in the buffer.
    filled: usize,
    /// The size of the header and the whole events in the file, in bytes.
    size: u64,
    /// The number of whole events in the file.
    count: u64,
    crc: Crc32c,
    whole: Whole,
    /// Whether a write of events failed, so that later events cannot be appended.
    has_failed: bool,
}

impl Section {
    /// Creates the file and writes its header. On failure, removes the file.
    pub(super) fn create(
        storage: &dyn Storage,
        path: PathBuf,
        header: &[u8; HEADER_SIZE],
        buffer: Buffer,
        whole: Whole,
    ) -> Result<Self> {
        let file = storage.create(&path).map_err(at(&path))?;
        let mut this = Self {
            path,
            file,
            buffer,
            filled: 0,
            size: HEADER_SIZE as u64,
            count: 0,
            crc: Crc32c::new(),
            whole,
            has_failed: false,
        };
        this.rewrite_header(header).inspect_err(|_| {
            // Ignore this error, because the first one is returned.
            let _ = storage.remove(&this.path);
        })?;
        Ok(this)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    #[inline]
    pub(super) fn filled(&self) -> usize {
        self.filled
    }

    pub(super) fn capacity(&self) -> usize {
        self.buffer.bytes().len()
    }

    /// Returns the offset of the end of the last event in the file, not counting buffered events.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// Returns the number of events in the file, not counting buffered events.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn events_size(&self) -> u64 {
        self.size.saturating_sub(HEADER_SIZE as u64)
    }

    pub(super) fn buffered(&self) -> Result<&[u8]> {
        let bytes = self.buffer.bytes().get(..self.filled);
        bytes.ok_or_else(|| Error::internal("a buffer holds no more than its size"))
    }

    /// Returns the CRC-32C of the events in the file.
    pub(super) fn checksum(&self) -> u32 {
        self.crc.finish()
    }

    /// Appends an event of `N` bytes to the buffer; returns `None` if it has no room. `encode`
    /// writes the bytes.
    #[inline]
    pub(super) fn push<const N: usize>(&mut self, encode: impl FnOnce(&mut [u8; N])) -> Option<()> {
        let rest = self.buffer.bytes_mut().get_mut(self.filled..);
        encode(rest.and_then(<[u8]>::first_chunk_mut)?);
        // No overflow: the range is inside the buffer.
        self.filled = self.filled.wrapping_add(N);
        self.buffer.publish(self.filled);
        Some(())
    }

    /// Calls `edit` on the event of `N` bytes at offset `at` in the buffer.
    pub(super) fn edit<const N: usize>(
        &mut self,
        at: usize,
        edit: impl FnOnce(&mut [u8; N]),
    ) -> Result<()> {
        let filled = self.buffer.bytes_mut().get_mut(..self.filled);
        let place = filled.and_then(|bytes| bytes.get_mut(at..)?.first_chunk_mut());
        edit(
            place.ok_or_else(|| {
                Error::internal("an event that is not in the file is in the buffer")
            })?,
        );
        Ok(())
    }

    /// Appends an event in two parts to the buffer, or directly to the file if it is larger than
    /// the buffer.
    pub(super) fn push_parts(&mut self, header: &[u8], payload: &[u8]) -> Result<()> {
        let size = header.len().saturating_add(payload.len());
        if self.capacity().saturating_sub(self.filled) < size {
            self.flush()?;
        }
        if size > self.capacity() {
            return self.append(|this| {
                let mut end = this.size;
                for part in [header, payload] {
                    this.write_all(end, part)?;
                    this.crc.update(part);
                    end = end.saturating_add(part.len() as u64);
                }
                Ok(end)
            });
        }
        let rest = self.buffer.bytes_mut().get_mut(self.filled..);
        let places = rest.and_then(|rest| {
            let (place, rest) = rest.split_at_mut_checked(header.len())?;
            Some((place, rest.get_mut(..payload.len())?))
        });
        let (place, rest) = places.ok_or_else(no_room)?;
        place.copy_from_slice(header);
        rest.copy_from_slice(payload);
        // No overflow: both ranges are inside the buffer.
        self.filled = self.filled.wrapping_add(size);
        self.buffer.publish(self.filled);
        Ok(())
    }

    /// Writes an event with a payload that may not fit into memory: `read` supplies its `size`
    /// bytes in pieces, which go through the emptied buffer.
    pub(super) fn push_read(
        &mut self,
        header: &[u8],
        size: u64,
        read: &mut dyn FnMut(&mut [u8]) -> Result<()>,
    ) -> Result<()> {
        self.flush()?;
        self.append(|this| {
            this.write_all(this.size, header)?;
            this.crc.update(header);
            let mut at = this.size.saturating_add(header.len() as u64);
            let end = at.saturating_add(size);
            while at < end {
                let buffer = this.buffer.bytes_mut();
                let left = usize::try_from(end.saturating_sub(at)).unwrap_or(usize::MAX);
                let most = left.min(buffer.len());
                let piece = buffer.get_mut(..most).filter(|piece| !piece.is_empty());
                let piece = piece.ok_or_else(no_room)?;
                read(piece)?;
                write_whole(&mut *this.file, &this.path, at, piece)?;
                this.crc.update(piece);
                at = at.saturating_add(piece.len() as u64);
            }
            Ok(end)
        })
    }

    /// Appends an event without buffering it. The buffer must be empty. `write` writes the event
    /// after the last one and returns the offset of its end.
    fn append(&mut self, write: impl FnOnce(&mut Self) -> Result<u64>) -> Result<()> {
        self.size = write(self).inspect_err(|_| {
            self.has_failed = true;
            self.cut();
        })?;
        self.count = self.count.saturating_add(1);
        self.buffer.move_to(self.size, self.crc.finish());
        Ok(())
    }

    /// Writes the buffer to the file. On failure, `size` includes the whole events that reached the
    /// file; the rest of the buffer is lost.
    pub(super) fn flush(&mut self) -> Result<()> {
        // Do not call `buffered`, which would also borrow the file.
        let bytes = self.buffer.bytes().get(..self.filled);
        let bytes = bytes.ok_or_else(no_room)?;
        self.crc.update(bytes);
        let written = write_all(&mut *self.file, &self.path, self.size, bytes);
        let in_file = match &written {
            Ok(()) => bytes,
            // `failure.written` is at most the number of these bytes.
            Err(failure) => bytes.get(..failure.written).unwrap_or(bytes),
        };
        let (size, count) = (self.whole)(in_file);
        self.size = self.size.saturating_add(size as u64);
        self.count = self.count.saturating_add(count);
        if let Err(failure) = written {
            // A ring keeps the unwritten bytes, because its header still contains their offset.
            self.has_failed = true;
            self.cut();
            return Err(failure.error);
        }
        self.filled = 0;
        // A kill before this point leaves the same bytes in the file and in the ring.
        self.buffer.publish(0);
        // The buffer stays empty until the next event, so readers do not use its offset before
        // then.
        self.buffer.move_to(self.size, self.crc.finish());
        Ok(())
    }

    /// Returns the last `size` bytes of the buffer.
    pub(super) fn last_buffered(&self, size: usize) -> Option<&[u8]> {
        let bytes = self.buffer.bytes().get(..self.filled)?;
        bytes.get(bytes.len().checked_sub(size)?..)
    }

    /// Writes the part of the buffer that `keep` selects, unless earlier bytes were lost. Ignores
    /// errors.
    pub(super) fn rescue(&mut self, keep: impl FnOnce(&[u8]) -> usize) {
        // Bytes in a ring are not lost.
        if !self.has_failed
            && !self.buffer.is_journal()
            && let Ok(events) = self.buffered()
        {
            self.filled = keep(events).min(self.filled);
            // Ignore this error, because the first one is returned.
            let _ = self.flush();
        }
    }

    /// Writes a footer after the events, which must all be in the file.
    pub(super) fn write_footer(&mut self, footer: &[u8]) -> Result<()> {
        self.write_all(self.size, footer)
            .inspect_err(|_| self.cut())
    }

    pub(super) fn rewrite_header(&mut self, header: &[u8; HEADER_SIZE]) -> Result<()> {
        self.write_all(0, header)
    }

    /// Syncs the file's contents, so that they survive a power loss.
    pub(super) fn sync(&mut self) -> Result<()> {
        sync(&mut *self.file).map_err(at(&self.path))
    }

    /// Removes the bytes that a failed write left after the last whole event. If that fails too,
    /// readers recognize them as a torn event.
    fn cut(&mut self) {
        let _ = self.file.set_size(self.size);
    }

    fn write_all(&mut self, offset: u64, bytes: &[u8]) -> Result<()> {
        write_whole(&mut *self.file, &self.path, offset, bytes)
    }
}

#[cold]
pub(super) fn no_room() -> Error {
    Error::internal("the buffer has room for an event before it is added")
}

/// A failed write, possibly after some bytes were written.
struct Failure {
    written: usize,
    error: Error,
}

/// Writes all bytes, retrying interrupted writes.
fn write_all(
    file: &mut dyn StorageFile,
    path: &Path,
    offset: u64,
    bytes: &[u8],
) -> Result<(), Failure> {
    let mut written = 0_usize;
    while let Some(rest) = bytes.get(written..).filter(|rest| !rest.is_empty()) {
        let place = offset.saturating_add(written as u64);
        let error = match file.write_at(place, rest) {
            Ok(0) => io::ErrorKind::WriteZero.into(),
            Ok(more) => {
                written = written.saturating_add(more);
                continue;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => error,
        };
        let error = Error::io(error).with_path(Some(path)).with_offset(place);
        return Err(Failure { written, error });
    }
    Ok(())
}

/// Syncs a file's contents, retrying interrupted attempts.
pub(super) fn sync(file: &mut dyn StorageFile) -> io::Result<()> {
    loop {
        match file.sync() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Like [`write_all`], but an error does not state how many bytes were written.
pub(super) fn write_whole(
    file: &mut dyn StorageFile,
    path: &Path,
    offset: u64,
    bytes: &[u8],
) -> Result<()> {
    write_all(file, path, offset, bytes).map_err(|failure| failure.error)
}
