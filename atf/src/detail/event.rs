//! An event of `detail.atf`.

use crate::error::{Result, out_of_range};
use crate::setters::setters;
use crate::wire::{DetailEventType, Wire, v1, v2};

/// The header of an event in `detail.atf`, from either wire version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct DetailEventHeader {
    /// Bytes of the event, including header and payload.
    pub total_length: u32,
    /// The type; unknown types are kept.
    pub event_type: DetailEventType,
    /// Flags of the event; no source defines any.
    pub flags: u16,
    /// The position of its event in `index.atf`, counted from 0.
    pub index_seq: u64,
    /// The thread. Wire version 2 does not record it; its events have the header's.
    pub thread_id: u32,
    /// The timestamp in nanoseconds, the same as in the index event.
    pub timestamp: u64,
}

impl DetailEventHeader {
    /// Creates the header of a detail of thread 0, without flags, whose length the writer computes.
    #[must_use]
    pub const fn new(event_type: DetailEventType, index_seq: u64, timestamp: u64) -> Self {
        Self {
            total_length: 0,
            event_type,
            flags: 0,
            index_seq,
            thread_id: 0,
            timestamp,
        }
    }
}

setters!(DetailEventHeader {
    total_length: u32,
    event_type: DetailEventType,
    flags: u16,
    index_seq: u64,
    thread_id: u32,
    timestamp: u64,
});

impl DetailEventHeader {
    /// Its size in bytes, in either wire version.
    pub const SIZE: usize = v1::DetailEventHeader::SIZE;

    /// Decodes the header of an event in a file whose header has this wire version and thread. Any
    /// bytes are valid; whether `total_length` is possible depends on the file.
    #[must_use]
    pub fn decode(wire: Wire, thread_id: u32, bytes: &[u8; Self::SIZE]) -> Self {
        match wire {
            Wire::V1 => Self::from_v1(&zerocopy::transmute!(*bytes)),
            Wire::V2 => Self::from_v2(&zerocopy::transmute!(*bytes), thread_id),
        }
    }

    /// Encodes the header for this wire version: the inverse of [`decode`](Self::decode). Version 2
    /// has no field for the thread.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) at `index_seq` if version 1 has too
    /// few bits for it.
    pub fn encode(&self, wire: Wire) -> Result<[u8; Self::SIZE]> {
        match wire {
            Wire::V1 => Ok(zerocopy::transmute!(self.to_v1()?)),
            Wire::V2 => Ok(zerocopy::transmute!(self.to_v2())),
        }
    }

    fn to_v1(self) -> Result<v1::DetailEventHeader> {
        let index_seq = u32::try_from(self.index_seq)
            .map_err(|_| out_of_range("index_seq", self.index_seq, u32::MAX.into()))?;
        Ok(v1::DetailEventHeader {
            total_length: self.total_length.into(),
            event_type: u16::from(self.event_type).into(),
            flags: self.flags.into(),
            index_seq: index_seq.into(),
            thread_id: self.thread_id.into(),
            timestamp: self.timestamp.into(),
        })
    }

    fn to_v2(self) -> v2::DetailEventHeader {
        v2::DetailEventHeader {
            total_length: self.total_length.into(),
            event_type: u16::from(self.event_type).into(),
            flags: self.flags.into(),
            index_seq: self.index_seq.into(),
            timestamp: self.timestamp.into(),
        }
    }

    fn from_v1(raw: &v1::DetailEventHeader) -> Self {
        Self {
            total_length: raw.total_length.get(),
            event_type: raw.event_type.get().into(),
            flags: raw.flags.get(),
            index_seq: raw.index_seq.get().into(),
            thread_id: raw.thread_id.get(),
            timestamp: raw.timestamp.get(),
        }
    }

    fn from_v2(raw: &v2::DetailEventHeader, thread_id: u32) -> Self {
        Self {
            total_length: raw.total_length.get(),
            event_type: raw.event_type.get().into(),
            flags: raw.flags.get(),
            index_seq: raw.index_seq.get(),
            thread_id,
            timestamp: raw.timestamp.get(),
        }
    }
}

/// One event of `detail.atf`: its header and its position. The payload is read on demand, as it can
/// be as large as the file.
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
}
