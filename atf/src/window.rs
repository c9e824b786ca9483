//! A moving view of a source, which lets a scan read many records at once.

use std::mem;
use std::ops::Range;

use crate::error::{Error, ErrorKind, Result};
use crate::source::{Input, NEAR};
use crate::sys::Turns;

/// The size of the first window in bytes. A gap of at most this size does not count as a jump.
const FIRST: u64 = 4 << 10;
/// The size of the second window in bytes, if the first was only as large as requested.
const SECOND: u64 = 512;
/// The size of the largest window in bytes.
const LARGEST: u64 = 256 << 10;
/// The size in bytes of the largest window that a reader keeps for its lookups. It is small because
/// a session has many readers.
const LARGEST_SHARED: u64 = 64 << 10;

/// A buffered view: reads far ahead during sequential scans in either direction, but only a little
/// after a jump.
///
/// A window near the previous one is twice as large as that one, up to 256 KiB. After a jump, the
/// window begins at a page boundary, so that a single read serves several nearby lookups. In-memory
/// bytes are returned directly, without a buffer.
#[derive(Debug)]
pub(crate) struct Window<'a> {
    input: &'a Input,
    /// All bytes, if they are in memory.
    memory: Option<&'a [u8]>,
    buffer: Buffer,
    /// The offset from which the next hole is looked for.
    hole_from: u64,
}

impl<'a> Window<'a> {
    pub(crate) fn new(input: &'a Input) -> Self {
        Self {
            input,
            memory: input.as_bytes(),
            buffer: Buffer::new(FIRST, LARGEST),
            hole_from: 0,
        }
    }

    #[inline]
    pub(crate) fn record<const N: usize>(&mut self, offset: u64) -> Result<&[u8; N]> {
        if self.view(offset).len() < N {
            self.buffer.fill(self.input, offset, N as u64)?;
        }
        self.view(offset).first_chunk().ok_or_else(not_buffered)
    }

    /// Returns the `N` bytes at `offset`. A read also includes the bytes before them, because the
    /// next requested record probably precedes them.
    #[inline]
    pub(crate) fn record_backward<const N: usize>(&mut self, offset: u64) -> Result<&[u8; N]> {
        if self.view(offset).len() < N {
            self.buffer.fill_backward(self.input, offset, N as u64)?;
        }
        self.view(offset).first_chunk().ok_or_else(not_buffered)
    }

    /// Returns the `size` bytes at `offset`. The caller must limit `size`.
    pub(crate) fn bytes(&mut self, offset: u64, size: usize) -> Result<&[u8]> {
        if self.view(offset).len() < size {
            self.buffer.fill(self.input, offset, size as u64)?;
        }
        self.view(offset).get(..size).ok_or_else(not_buffered)
    }

    /// Returns the available bytes from `offset` up to `end`, at least one.
    pub(crate) fn chunk(&mut self, offset: u64, end: u64) -> Result<&[u8]> {
        if self.view(offset).is_empty() {
            self.buffer.fill(self.input, offset, 1)?;
        }
        let view = self.view(offset);
        let most = usize::try_from(end.saturating_sub(offset)).unwrap_or(usize::MAX);
        Ok(view.get(..most).unwrap_or(view))
    }

    /// Returns the number of bytes from `offset` that are in a hole, for a forward scan that has
    /// found zeros there. Queries the source at most once per 64 KiB of data, and otherwise returns
    /// 0.
    pub(crate) fn hole(&mut self, offset: u64) -> Result<u64> {
        if offset < self.hole_from {
            return Ok(0);
        }
        let data = self.input.next_data(offset)?;
        let data = data.unwrap_or(self.input.size());
        self.hole_from = data.saturating_add(NEAR);
        Ok(data.saturating_sub(offset))
    }

    /// Returns the available bytes from `offset`.
    #[inline]
    fn view(&self, offset: u64) -> &[u8] {
        match self.memory {
            Some(all) => after(all, Some(offset)),
            None => self.buffer.view(offset),
        }
    }
}

/// A window that a reader's lookups share, so that a single read serves several nearby lookups. A
/// lookup elsewhere reads no more than it needs.
///
/// Threads do not wait for each other: if the window is in use, the bytes are read directly.
/// In-memory bytes are used in place.
#[derive(Debug)]
pub(crate) struct SharedWindow(Turns<Buffer>);

impl SharedWindow {
    pub(crate) fn new() -> Self {
        Self(Turns::new(Buffer::new(0, LARGEST_SHARED)))
    }

    /// Returns the `N` bytes at `offset`, in place if they are in memory, otherwise in `buffer`.
    #[inline]
    pub(crate) fn record<'a, const N: usize>(
        &self,
        input: &'a Input,
        offset: u64,
        buffer: &'a mut Option<[u8; N]>,
    ) -> Result<&'a [u8; N]> {
        if let Some(record) = input.record_in_memory(offset) {
            return Ok(record);
        }
        let buffer = buffer.insert([0; N]);
        self.copy(input, offset, buffer)?;
        Ok(buffer)
    }

    /// Reads the bytes into `to`. This function is separate from [`record`](Self::record), and its
    /// result fits into a register, so that access to in-memory bytes is a single load.
    #[inline(never)]
    fn copy<const N: usize>(&self, input: &Input, offset: u64, to: &mut [u8; N]) -> Result<()> {
        let copied = self.0.with(|shared| {
            let bytes = shared.around(input, offset, N)?;
            *to = *bytes.first_chunk().ok_or_else(not_buffered)?;
            Ok(())
        });
        copied.unwrap_or_else(|| input.read_exact(offset, to))
    }

    /// Passes the `size` bytes at `offset` to `decode`. The caller must limit `size`.
    #[inline]
    pub(crate) fn with<T>(
        &self,
        input: &Input,
        offset: u64,
        size: usize,
        mut decode: impl FnMut(&[u8]) -> Result<T>,
    ) -> Result<T> {
        if let Some(bytes) = input.slice(offset, offset.saturating_add(size as u64)) {
            return decode(bytes);
        }
        let decoded = self
            .0
            .with(|shared| decode(shared.around(input, offset, size)?));
        decoded.unwrap_or_else(|| decode(&alone(input, offset, size)?))
    }
}

/// Reads bytes without the window, because another thread is using it.
#[cold]
#[inline(never)]
fn alone(input: &Input, offset: u64, size: usize) -> Result<Vec<u8>> {
    let mut bytes = vec![0; size];
    input.read_exact(offset, &mut bytes)?;
    Ok(bytes)
}

#[cold]
fn not_buffered() -> Error {
    Error::internal("bytes that were read are buffered")
}

/// Returns the bytes from position `start` on.
#[inline]
fn after(bytes: &[u8], start: Option<u64>) -> &[u8] {
    let start = start.and_then(|start| usize::try_from(start).ok());
    start
        .and_then(|start| bytes.get(start..))
        .unwrap_or_default()
}

#[derive(Debug)]
struct Buffer {
    /// The buffer's offset in the source.
    start: u64,
    bytes: Vec<u8>,
    next_size: u64,
    /// The sizes in bytes of a window after a jump and of the largest window. A larger request gets
    /// a larger window.
    sizes: (u64, u64),
}

impl Buffer {
    const fn new(after_jump: u64, largest: u64) -> Self {
        Self {
            start: 0,
            bytes: Vec::new(),
            next_size: after_jump,
            sizes: (after_jump, largest),
        }
    }

    /// Determines the size of the next window, depending on whether it is near the last one.
    fn advance(&mut self, is_near: bool) {
        let (after_jump, largest) = self.sizes;
        self.next_size = if is_near && !self.bytes.is_empty() {
            self.next_size.saturating_mul(2).clamp(SECOND, largest)
        } else {
            after_jump
        };
    }

    fn end(&self) -> u64 {
        self.start.saturating_add(self.bytes.len() as u64)
    }

    /// Returns the buffered bytes from `offset`.
    #[inline]
    fn view(&self, offset: u64) -> &[u8] {
        after(&self.bytes, offset.checked_sub(self.start))
    }

    /// Buffers at least `size` bytes from `offset`.
    #[cold]
    fn fill(&mut self, input: &Input, offset: u64, size: u64) -> Result<()> {
        let is_near = (self.start..=self.end().saturating_add(FIRST)).contains(&offset);
        self.advance(is_near);
        let start = if is_near {
            offset
        } else {
            // Begin at a page boundary if more is read than was requested.
            offset.saturating_sub(offset.checked_rem(self.next_size).unwrap_or(0))
        };
        let end = offset
            .saturating_add(size)
            .max(start.saturating_add(self.next_size));
        self.read(input, start..end, offset, size)
    }

    /// Buffers the bytes that end with the `size` bytes at `offset`.
    #[cold]
    fn fill_backward(&mut self, input: &Input, offset: u64, size: u64) -> Result<()> {
        let end = offset.saturating_add(size);
        self.advance(end.saturating_add(FIRST) >= self.start && offset <= self.end());
        let start = end.saturating_sub(self.next_size).min(offset);
        self.read(input, start..end, offset, size)
    }

    /// Returns the `size` bytes at `offset`, from the buffer or by reading further in either
    /// direction.
    #[inline]
    fn around(&mut self, input: &Input, offset: u64, size: usize) -> Result<&[u8]> {
        if self.view(offset).len() < size {
            if offset < self.start {
                self.fill_backward(input, offset, size as u64)?;
            } else {
                self.fill(input, offset, size as u64)?;
            }
        }
        self.view(offset).get(..size).ok_or_else(not_buffered)
    }

    /// Reads as much of a range as exists and is readable. The `size` bytes at `offset` must exist.
    fn read(&mut self, input: &Input, range: Range<u64>, offset: u64, size: u64) -> Result<()> {
        let end = range.end.min(input.size());
        let length = usize::try_from(end.saturating_sub(range.start)).unwrap_or(usize::MAX);
        let skipped = offset.saturating_sub(range.start);
        // The window is empty during the read, so if the source panics, no other lookup sees a
        // half-filled window.
        let mut bytes = mem::take(&mut self.bytes);
        bytes.resize(length, 0);
        let least = skipped.saturating_add(size);
        let read = input.read_ahead(range.start, &mut bytes, least);
        bytes.truncate(*read.as_ref().unwrap_or(&0));
        (self.start, self.bytes) = (range.start, bytes);
        if read.is_err() && skipped > 0 {
            // The read may have failed on bytes that were not requested. Read only the requested
            // ones.
            return self.read(input, offset..offset.saturating_add(size), offset, size);
        }
        let found = (read? as u64).saturating_sub(skipped);
        let missing = size.saturating_sub(found);
        if missing == 0 {
            return Ok(());
        }
        let error = input.error(ErrorKind::UnexpectedEnd { missing });
        Err(error.with_offset(offset))
    }
}

/// Returns the position of the last byte that is not zero. Skips zeros block by block, because the
/// processor compares a whole block at once.
fn last_nonzero(bytes: &[u8]) -> Option<usize> {
    const BLOCK: usize = 128;
    let is_zero = |block: &[u8]| block.iter().fold(0, |seen, byte| seen | byte) == 0;
    let blocks = bytes.rchunks(BLOCK);
    let zeros = blocks.take_while(|block| is_zero(block)).map(<[u8]>::len);
    let zeros: usize = zeros.sum();
    let (rest, _) = bytes.split_at(bytes.len().saturating_sub(zeros));
    rest.iter().rposition(|byte| *byte != 0)
}

/// Returns the offset after the last nonzero byte in `start..end`, or `start` if all bytes are
/// zeros.
pub(crate) fn end_without_zeros(input: &Input, start: u64, end: u64) -> Result<u64> {
    let mut buffer = Vec::new();
    let mut end = end;
    while end > start {
        let size = end.saturating_sub(start).min(LARGEST);
        let chunk_start = end.saturating_sub(size);
        let chunk = match input.slice(chunk_start, end) {
            Some(chunk) => chunk,
            None => {
                // The size is at most `LARGEST`.
                buffer.resize(usize::try_from(size).unwrap_or(usize::MAX), 0);
                input.read_exact(chunk_start, &mut buffer)?;
                &buffer
            }
        };
        if let Some(last) = last_nonzero(chunk) {
            return Ok(chunk_start.saturating_add(last as u64).saturating_add(1));
        }
        // Skip the holes of a sparse file.
        end = input.stored_end(start, chunk_start)?;
    }
    Ok(start)
}
