//! An event of `detail.atf`.

use std::ops::Range;

use crate::error::Result;
use crate::wire::{DetailEventType, Wire};

pub use crate::wire::decoded::DetailEventHeader;

impl DetailEventHeader {
    /// Creates a detail's header for thread 0, without flags; the writer computes the length.
    #[must_use]
    pub const fn new(event_type: DetailEventType, index_seq: u64, timestamp: u64) -> Self {
        Self {
            event_type,
            index_seq,
            timestamp,
            ..Self::blank()
        }
    }

    /// Decodes an event's header. The file's header supplies `wire` and `thread_id`. Accepts any
    /// bytes: whether `total_length` is possible depends on the file.
    #[must_use]
    #[inline]
    pub fn decode(wire: Wire, thread_id: u32, bytes: &[u8; Self::SIZE]) -> Self {
        Self::from_bytes(wire, thread_id, bytes)
    }

    /// Encodes the header for this wire version: the inverse of [`decode`](Self::decode). Version 2
    /// has no field for the thread.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) at `index_seq` if version 1 has too
    /// few bits for it.
    pub fn encode(&self, wire: Wire) -> Result<[u8; Self::SIZE]> {
        self.check_fits(wire)?;
        Ok(self.bytes(wire))
    }
}

/// An event of `detail.atf`: its header and its position. The payload is read on demand, because it
/// can be as large as the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct DetailEvent {
    /// Its position, counted from 0.
    pub seq: u64,
    /// Its offset in bytes from the start of the file.
    pub offset: u64,
    /// Its header.
    pub header: DetailEventHeader,
}

impl DetailEvent {
    /// Returns the payload's offset in bytes from the start of the file.
    #[must_use]
    pub fn payload_offset(&self) -> u64 {
        self.offset.saturating_add(DetailEventHeader::SIZE as u64)
    }

    /// Returns the payload's size in bytes.
    #[must_use]
    pub fn payload_size(&self) -> u64 {
        u64::from(self.header.total_length).saturating_sub(DetailEventHeader::SIZE as u64)
    }

    /// Returns the part of `buffer` that the payload fills from its byte `start` on, and the offset of
    /// that byte in the file.
    pub(crate) fn part<'b>(&self, start: u64, buffer: &'b mut [u8]) -> (u64, &'b mut [u8]) {
        let left = self.payload_size().saturating_sub(start);
        let size = usize::try_from(left).unwrap_or(usize::MAX);
        let size = size.min(buffer.len());
        let offset = self.payload_offset().saturating_add(start);
        (offset, buffer.get_mut(..size).unwrap_or_default())
    }

    /// Returns the byte range of the event in the file.
    pub(crate) fn place(&self) -> Range<u64> {
        let size = u64::from(self.header.total_length);
        self.offset..self.offset.saturating_add(size)
    }
}
