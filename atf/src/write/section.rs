//! A file that grows at its end, through a buffer, under a checksum.

use std::io;
use std::path::{Path, PathBuf};

use super::buffer::Buffer;
use super::{Storage, StorageFile};
use crate::checksum::Crc32c;
use crate::error::{Error, Result};
use crate::header::HEADER_SIZE;

/// How many bytes of whole events some bytes begin with, and how many events these are.
pub(super) type Whole = fn(&[u8]) -> (usize, u64);

/// One of a thread's two files while it is written: header, events, a buffer for what follows.
#[derive(Debug)]
pub(super) struct Section {
    path: PathBuf,
    file: Box<dyn StorageFile>,
    buffer: Buffer,
    /// Bytes of the buffer that hold events.
    filled: usize,
    /// Bytes of the file: header and events, whole ones only.
    size: u64,
    /// Events in the file.
    count: u64,
    crc: Crc32c,
    whole: Whole,
    /// Whether a write of events failed: what would follow has lost its place.
    has_failed: bool,
}

impl Section {
    /// Makes the file and writes its header. Where that fails, the file is removed again.
    pub(super) fn create(
        storage: &dyn Storage,
        path: PathBuf,
        header: &[u8; HEADER_SIZE],
        buffer: Buffer,
        whole: Whole,
    ) -> Result<Self> {
        let file = storage.create(&path);
        let file = file.map_err(|error| Error::io(error).with_path(Some(&path)))?;
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
        match this.write_all(0, header) {
            Ok(()) => Ok(this),
            Err(failure) => {
                // The error that counts is the first one.
                let _ = storage.remove(&this.path);
                Err(failure.error)
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes of the buffer that hold events.
    #[inline]
    pub(super) fn filled(&self) -> usize {
        self.filled
    }

    /// Bytes that the buffer can hold.
    pub(super) fn capacity(&self) -> usize {
        self.buffer.bytes().len()
    }

    /// The offset behind the last event in the file, without those in the buffer.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// How many events are in the file, without those in the buffer.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Bytes of the events in the file.
    pub(super) fn events_size(&self) -> u64 {
        self.size.saturating_sub(HEADER_SIZE as u64)
    }

    /// The bytes in the buffer.
    pub(super) fn buffered(&self) -> Result<&[u8]> {
        let bytes = self.buffer.bytes().get(..self.filled);
        bytes.ok_or_else(|| Error::internal("a buffer holds no more than its size"))
    }

    /// The CRC-32C of the events in the file.
    pub(super) fn checksum(&self) -> u32 {
        self.crc.finish()
    }

    /// Lets `encode` put an event of `N` bytes into the buffer, which must have room.
    #[inline]
    pub(super) fn push<const N: usize>(&mut self, encode: impl FnOnce(&mut [u8; N])) -> Result<()> {
        let rest = self.buffer.bytes_mut().get_mut(self.filled..);
        let Some(place) = rest.and_then(<[u8]>::first_chunk_mut) else {
            return Err(no_room());
        };
        encode(place);
        // It was found inside the buffer.
        self.filled = self.filled.wrapping_add(N);
        self.buffer.publish(self.filled);
        Ok(())
    }

    /// Lets `edit` change an event of `N` bytes that is in the buffer, at `at` bytes of it.
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

    /// Puts an event of several parts into the buffer, or past it into the file where it is larger
    /// than the buffer.
    pub(super) fn push_parts(&mut self, header: &[u8], payload: &[u8]) -> Result<()> {
        let size = header.len().saturating_add(payload.len());
        if self.capacity().saturating_sub(self.filled) < size {
            self.flush()?;
        }
        if size > self.capacity() {
            return self.write_through(&[header, payload]);
        }
        let rest = self.buffer.bytes_mut().get_mut(self.filled..);
        let places = rest.and_then(|rest| {
            let (place, rest) = rest.split_at_mut_checked(header.len())?;
            Some((place, rest.get_mut(..payload.len())?))
        });
        let (place, rest) = places.ok_or_else(no_room)?;
        place.copy_from_slice(header);
        rest.copy_from_slice(payload);
        // Both were found inside the buffer.
        self.filled = self.filled.wrapping_add(size);
        self.buffer.publish(self.filled);
        Ok(())
    }

    /// Writes an event that is larger than the empty buffer.
    fn write_through(&mut self, parts: &[&[u8]]) -> Result<()> {
        let mut end = self.size;
        for part in parts {
            if let Err(failure) = self.write_all(end, part) {
                self.has_failed = true;
                self.cut();
                return Err(failure.error);
            }
            end = end.saturating_add(part.len() as u64);
            self.crc.update(part);
        }
        self.size = end;
        self.count = self.count.saturating_add(1);
        self.buffer.move_to(self.size, self.crc.finish());
        Ok(())
    }

    /// Puts an event into the file whose payload need not fit into memory: `read` fills one piece
    /// after the other of its `size` bytes, and they go through the emptied buffer.
    pub(super) fn push_read(
        &mut self,
        header: &[u8],
        size: u64,
        read: &mut dyn FnMut(&mut [u8]) -> Result<()>,
    ) -> Result<()> {
        self.flush()?;
        let written = self.write_read(header, size, read);
        self.size = written.inspect_err(|_| {
            self.has_failed = true;
            self.cut();
        })?;
        self.count = self.count.saturating_add(1);
        self.buffer.move_to(self.size, self.crc.finish());
        Ok(())
    }

    /// Writes an event behind the last one and says where it ends.
    fn write_read(
        &mut self,
        header: &[u8],
        size: u64,
        read: &mut dyn FnMut(&mut [u8]) -> Result<()>,
    ) -> Result<u64> {
        let mut at = self.size;
        self.write_all(at, header)
            .map_err(|failure| failure.error)?;
        self.crc.update(header);
        at = at.saturating_add(header.len() as u64);
        let end = at.saturating_add(size);
        while at < end {
            let buffer = self.buffer.bytes_mut();
            let left = usize::try_from(end.saturating_sub(at)).unwrap_or(usize::MAX);
            let most = left.min(buffer.len());
            let piece = buffer.get_mut(..most).filter(|piece| !piece.is_empty());
            let piece = piece.ok_or_else(no_room)?;
            read(piece)?;
            let written = write_all(&mut *self.file, &self.path, at, piece);
            written.map_err(|failure| failure.error)?;
            self.crc.update(piece);
            at = at.saturating_add(piece.len() as u64);
        }
        Ok(end)
    }

    /// Sends the buffer on. Where that fails, `size` tells how many bytes of whole events the file
    /// has; the rest of the buffer is lost.
    pub(super) fn flush(&mut self) -> Result<()> {
        // Not by `buffered`, which would borrow the file too.
        let bytes = self.buffer.bytes().get(..self.filled);
        let bytes = bytes.ok_or_else(no_room)?;
        self.crc.update(bytes);
        let written = write_all(&mut *self.file, &self.path, self.size, bytes);
        let in_file = match &written {
            Ok(()) => bytes,
            // No more was written than there is.
            Err(failure) => bytes.get(..failure.written).unwrap_or(bytes),
        };
        let (size, count) = (self.whole)(in_file);
        self.size = self.size.saturating_add(size as u64);
        self.count = self.count.saturating_add(count);
        if let Err(failure) = written {
            // A ring keeps what did not arrive: it still says where its bytes belong.
            self.has_failed = true;
            self.cut();
            return Err(failure.error);
        }
        self.filled = 0;
        // A kill before this leaves the bytes in both places, where they are equal.
        self.buffer.publish(0);
        // From here on to the next event the buffer is empty, and nobody looks where it belongs.
        self.buffer.move_to(self.size, self.crc.finish());
        Ok(())
    }

    /// Sends on what `keep` leaves of the buffer, if nothing before it was lost, whether that
    /// succeeds or not.
    pub(super) fn rescue(&mut self, keep: impl FnOnce(&[u8]) -> usize) {
        // What is in a ring is not lost.
        if !self.has_failed
            && !self.buffer.is_ring()
            && let Ok(events) = self.buffered()
        {
            self.filled = keep(events).min(self.filled);
            // The error that counts is the first one.
            let _ = self.flush();
        }
    }

    /// Writes a footer behind the events, which must all be in the file.
    pub(super) fn write_footer(&mut self, footer: &[u8]) -> Result<()> {
        self.write_all(self.size, footer).map_err(|failure| {
            self.cut();
            failure.error
        })
    }

    /// Writes the header again.
    pub(super) fn rewrite_header(&mut self, header: &[u8; HEADER_SIZE]) -> Result<()> {
        self.write_all(0, header).map_err(|failure| failure.error)
    }

    /// Makes what is in the file survive a loss of power.
    pub(super) fn sync(&mut self) -> Result<()> {
        sync(&mut *self.file).map_err(|error| Error::io(error).with_path(Some(&self.path)))
    }

    /// Cuts off what a failed write left behind the last whole event. Readers do without: where
    /// this fails too, they tell the part from an event.
    fn cut(&mut self) {
        let _ = self.file.set_size(self.size);
    }

    fn write_all(&mut self, offset: u64, bytes: &[u8]) -> Result<(), Failure> {
        write_all(&mut *self.file, &self.path, offset, bytes)
    }
}

#[cold]
fn no_room() -> Error {
    Error::internal("the buffer has room for an event before it is put there")
}

/// A write that did not succeed as a whole.
struct Failure {
    written: usize,
    error: Error,
}

/// Writes all bytes; an interrupted write is repeated.
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

/// Makes what is in a file survive a loss of power; an interrupted attempt is repeated.
pub(super) fn sync(file: &mut dyn StorageFile) -> io::Result<()> {
    loop {
        match file.sync() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Writes all bytes of a new file.
pub(super) fn write_whole(file: &mut dyn StorageFile, path: &Path, bytes: &[u8]) -> Result<()> {
    write_all(file, path, 0, bytes).map_err(|failure| failure.error)
}
