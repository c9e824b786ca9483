//! A moving view of a source, so that a scan costs one read for many records.

use std::ops::Range;

use crate::error::{Error, ErrorKind, Result};
use crate::source::Input;

/// Bytes of the first window, and of one after a jump.
const FIRST: u64 = 4 << 10;
/// Bytes of the largest window.
const LARGEST: u64 = 256 << 10;

/// A buffered view: reads ahead on a sequential scan in either direction, little after a jump.
///
/// Each window that follows the one before, or precedes it, is twice as large, up to 256 KiB. One
/// after a jump begins at a page, so that looks around one place cost one read. Bytes in memory
/// are shown as they are, without a buffer.
#[derive(Debug)]
pub(crate) struct Window<'a> {
    input: &'a Input,
    /// All bytes, where they are in memory.
    memory: Option<&'a [u8]>,
    /// Where the buffer begins in the source.
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

    /// A record of `N` bytes at `offset`.
    #[inline]
    pub(crate) fn record<const N: usize>(&mut self, offset: u64) -> Result<[u8; N]> {
        if let Some(record) = self.view(offset).first_chunk() {
            return Ok(*record);
        }
        self.fill(offset, N as u64)?;
        self.filled(offset)
    }

    /// A record of `N` bytes at `offset`, where the next one asked for stands before it.
    #[inline]
    pub(crate) fn record_backward<const N: usize>(&mut self, offset: u64) -> Result<[u8; N]> {
        if let Some(record) = self.view(offset).first_chunk() {
            return Ok(*record);
        }
        self.fill_backward(offset, N as u64)?;
        self.filled(offset)
    }

    /// A record that was put at hand.
    fn filled<const N: usize>(&self, offset: u64) -> Result<[u8; N]> {
        let record = self.view(offset).first_chunk().copied();
        record.ok_or_else(|| Error::internal("bytes that were read are at hand"))
    }

    /// As many bytes as are at hand from `offset`, at least one, none behind `end`.
    pub(crate) fn chunk(&mut self, offset: u64, end: u64) -> Result<&[u8]> {
        if self.view(offset).is_empty() {
            self.fill(offset, 1)?;
        }
        let view = self.view(offset);
        let most = usize::try_from(end.saturating_sub(offset)).unwrap_or(usize::MAX);
        Ok(view.get(..most).unwrap_or(view))
    }

    /// What is at hand from `offset`.
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

    /// Puts `size` bytes or more from `offset` on at hand.
    #[cold]
    fn fill(&mut self, offset: u64, size: u64) -> Result<()> {
        let start = match self.touches(offset, offset) {
            true => {
                self.next_size = self.next_size.saturating_mul(2).min(LARGEST);
                offset
            }
            false => {
                self.next_size = FIRST;
                offset.saturating_sub(offset % FIRST)
            }
        };
        let end = offset
            .saturating_add(size)
            .max(start.saturating_add(self.next_size));
        self.read(start..end, offset, size)
    }

    /// Puts what stands before the end of the `size` bytes at `offset` at hand.
    #[cold]
    fn fill_backward(&mut self, offset: u64, size: u64) -> Result<()> {
        let end = offset.saturating_add(size);
        self.next_size = match self.touches(offset, end) {
            true => self.next_size.saturating_mul(2).min(LARGEST),
            false => FIRST,
        };
        let start = end.saturating_sub(self.next_size).min(offset);
        self.read(start..end, offset, size)
    }

    /// Whether something from `first` to `last` is at hand or borders on it.
    fn touches(&self, first: u64, last: u64) -> bool {
        let end = self.start.saturating_add(self.buffer.len() as u64);
        !self.buffer.is_empty() && first <= end && last >= self.start
    }

    /// Reads a range, or as much of it as there is; the `size` bytes at `offset` must be.
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

/// The offset behind the last byte in `start..end` that is not 0, or `start` where all are.
pub(crate) fn end_without_zeros(input: &Input, start: u64, end: u64) -> Result<u64> {
    let mut buffer = Vec::new();
    let mut end = end;
    // A sparse file's hole is not read.
    let mut is_first = true;
    while end > start {
        let size = end.saturating_sub(start).min(LARGEST);
        let chunk_start = end.saturating_sub(size);
        let chunk = match input.as_bytes() {
            Some(_) => match input.slice(chunk_start, end) {
                Some(chunk) => chunk,
                // Some of them are behind the file's end.
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
        end = match is_first {
            true => input.stored_end(start, chunk_start)?,
            false => chunk_start,
        };
        is_first = false;
    }
    Ok(start)
}
