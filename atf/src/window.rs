//! A moving view of a source, so that a scan reads many records at once.

use std::ops::Range;

use crate::error::{Error, ErrorKind, Result};
use crate::source::Input;

/// Bytes of the first window, and of the first after a jump.
const FIRST: u64 = 4 << 10;
/// Bytes of the largest window.
const LARGEST: u64 = 256 << 10;

/// A buffered view: reads ahead during sequential scans in either direction, but little after a
/// jump.
///
/// Each window adjacent to the previous one is twice as large, up to 256 KiB. After a jump, the
/// window begins at a page, so that nearby reads cost one read. Bytes in memory are returned
/// directly, without a buffer.
#[derive(Debug)]
pub(crate) struct Window<'a> {
    input: &'a Input,
    /// All bytes, if they are in memory.
    memory: Option<&'a [u8]>,
    /// The buffer's offset in the source.
    start: u64,
    buffer: Vec<u8>,
    next_size: u64,
}

impl<'a> Window<'a> {
    pub(crate) fn new(input: &'a Input) -> Self {
        let memory = input.as_bytes();
        Self {
            input,
            memory,
            start: 0,
            buffer: Vec::new(),
            next_size: FIRST,
        }
    }

    /// Returns the `N` bytes at `offset`.
    #[inline]
    pub(crate) fn record<const N: usize>(&mut self, offset: u64) -> Result<[u8; N]> {
        if let Some(record) = self.view(offset).first_chunk() {
            return Ok(*record);
        }
        self.fill(offset, N as u64)?;
        self.filled(offset)
    }

    /// Returns the `N` bytes at `offset`; the next record requested is expected before it.
    #[inline]
    pub(crate) fn record_backward<const N: usize>(&mut self, offset: u64) -> Result<[u8; N]> {
        if let Some(record) = self.view(offset).first_chunk() {
            return Ok(*record);
        }
        self.fill_backward(offset, N as u64)?;
        self.filled(offset)
    }

    /// Returns a record that is buffered.
    fn filled<const N: usize>(&self, offset: u64) -> Result<[u8; N]> {
        let record = self.view(offset).first_chunk().copied();
        record.ok_or_else(|| Error::internal("bytes that were read are buffered"))
    }

    /// Returns the available bytes from `offset`, at least one, none at or after `end`.
    pub(crate) fn chunk(&mut self, offset: u64, end: u64) -> Result<&[u8]> {
        if self.view(offset).is_empty() {
            self.fill(offset, 1)?;
        }
        let view = self.view(offset);
        let most = usize::try_from(end.saturating_sub(offset)).unwrap_or(usize::MAX);
        Ok(view.get(..most).unwrap_or(view))
    }

    /// Returns the available bytes from `offset`.
    #[inline]
    fn view(&self, offset: u64) -> &[u8] {
        let (bytes, start) = match self.memory {
            Some(all) => (all, 0),
            None => (&self.buffer[..], self.start),
        };
        let skip = offset
            .checked_sub(start)
            .and_then(|skip| usize::try_from(skip).ok());
        skip.and_then(|skip| bytes.get(skip..)).unwrap_or_default()
    }

    /// Buffers at least `size` bytes from `offset`.
    #[cold]
    fn fill(&mut self, offset: u64, size: u64) -> Result<()> {
        let start = if self.touches(offset, offset) {
            self.next_size = self.next_size.saturating_mul(2).min(LARGEST);
            offset
        } else {
            self.next_size = FIRST;
            offset.saturating_sub(offset % FIRST)
        };
        let end = offset
            .saturating_add(size)
            .max(start.saturating_add(self.next_size));
        self.read(start..end, offset, size)
    }

    /// Buffers the bytes that end with the `size` bytes at `offset`.
    #[cold]
    fn fill_backward(&mut self, offset: u64, size: u64) -> Result<()> {
        let end = offset.saturating_add(size);
        self.next_size = if self.touches(offset, end) {
            self.next_size.saturating_mul(2).min(LARGEST)
        } else {
            FIRST
        };
        let start = end.saturating_sub(self.next_size).min(offset);
        self.read(start..end, offset, size)
    }

    /// Returns whether the buffer overlaps `first..=last` or is adjacent to it.
    fn touches(&self, first: u64, last: u64) -> bool {
        let end = self.start.saturating_add(self.buffer.len() as u64);
        !self.buffer.is_empty() && first <= end && last >= self.start
    }

    /// Reads a range, or as much of it as there is; the `size` bytes at `offset` must exist.
    fn read(&mut self, range: Range<u64>, offset: u64, size: u64) -> Result<()> {
        let end = range.end.min(self.input.size());
        let length = usize::try_from(end.saturating_sub(range.start)).unwrap_or(usize::MAX);
        self.buffer.resize(length, 0);
        self.start = range.start;
        let read = self.input.read(range.start, &mut self.buffer);
        self.buffer.truncate(*read.as_ref().unwrap_or(&0));
        let skipped = offset.saturating_sub(range.start);
        let found = (read? as u64).saturating_sub(skipped);
        let missing = size.saturating_sub(found);
        if missing == 0 {
            return Ok(());
        }
        Err(self
            .input
            .error(ErrorKind::UnexpectedEnd { missing })
            .with_offset(offset))
    }
}

/// Returns the offset after the last nonzero byte in `start..end`, or `start` if all are zeros.
pub(crate) fn end_without_zeros(input: &Input, start: u64, end: u64) -> Result<u64> {
    let mut buffer = Vec::new();
    let mut end = end;
    // Skip the holes of a sparse file.
    let mut is_first = true;
    while end > start {
        let size = end.saturating_sub(start).min(LARGEST);
        let chunk_start = end.saturating_sub(size);
        let chunk = match input.as_bytes() {
            Some(_) => match input.slice(chunk_start, end) {
                Some(chunk) => chunk,
                // Part of the range is past the end of the file.
                None => {
                    let missing = end.saturating_sub(input.size());
                    let error = input.error(ErrorKind::UnexpectedEnd { missing });
                    return Err(error.with_offset(chunk_start));
                }
            },
            None => {
                // At most `LARGEST`.
                buffer.resize(usize::try_from(size).unwrap_or(usize::MAX), 0);
                input.read_exact(chunk_start, &mut buffer)?;
                &buffer
            }
        };
        if let Some(last) = chunk.iter().rposition(|byte| *byte != 0) {
            return Ok(chunk_start.saturating_add(last as u64).saturating_add(1));
        }
        end = if is_first {
            input.stored_end(start, chunk_start)?
        } else {
            chunk_start
        };
        is_first = false;
    }
    Ok(start)
}
