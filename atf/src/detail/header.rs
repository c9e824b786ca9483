//! The header of `detail.atf`.

use std::mem::offset_of;

use crate::error::Result;
use crate::header::{HEADER_SIZE, check_events_offset, wire};
use crate::setters::setters;
use crate::wire::{self, Arch, Os, Wire};

/// The header of `detail.atf`, the first 64 bytes, laid out alike in both wire versions.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DetailHeader {
    /// The wire version of the file.
    pub wire: Wire,
    /// The processor architecture.
    pub arch: Arch,
    /// The operating system.
    pub os: Os,
    /// Reserved.
    pub flags: u32,
    /// The thread of all events in the file.
    pub thread_id: u32,
    /// Bytes from the start of the file to the first event.
    pub events_offset: u64,
    /// Number of events.
    pub event_count: u64,
    /// Bytes of the events section.
    pub bytes_length: u64,
    /// The least `index_seq` of all events; meaningless without events.
    pub index_seq_start: u64,
    /// The greatest `index_seq` of all events; meaningless without events.
    pub index_seq_end: u64,
}

impl DetailHeader {
    /// Creates the placeholder of a file without events: all other fields are 0.
    #[must_use]
    pub const fn new(wire: Wire, thread_id: u32) -> Self {
        Self {
            wire,
            arch: Arch(0),
            os: Os(0),
            flags: 0,
            thread_id,
            events_offset: HEADER_SIZE as u64,
            event_count: 0,
            bytes_length: 0,
            index_seq_start: 0,
            index_seq_end: 0,
        }
    }
}

setters!(DetailHeader {
    arch: Arch,
    os: Os,
    flags: u32,
    events_offset: u64,
    event_count: u64,
    bytes_length: u64,
    index_seq_start: u64,
    index_seq_end: u64,
});

impl DetailHeader {
    /// Its size in bytes.
    pub const SIZE: usize = HEADER_SIZE;

    /// Decodes and checks a header at the start of a file of `file_size` bytes.
    ///
    /// # Errors
    ///
    /// [`BadMagic`](crate::ErrorKind::BadMagic), [`BadEndian`](crate::ErrorKind::BadEndian),
    /// [`UnknownVersion`](crate::ErrorKind::UnknownVersion),
    /// [`BadEventsOffset`](crate::ErrorKind::BadEventsOffset), each pointing at its field.
    pub fn decode(bytes: &[u8; Self::SIZE], file_size: u64) -> Result<Self> {
        let wire = wire(bytes, wire::DetailHeader::MAGIC)?;
        let raw: wire::DetailHeader = zerocopy::transmute!(*bytes);
        let this = Self {
            wire,
            arch: raw.arch.into(),
            os: raw.os.into(),
            flags: raw.flags.get(),
            thread_id: raw.thread_id.get(),
            events_offset: raw.events_offset.get(),
            event_count: raw.event_count.get(),
            bytes_length: raw.bytes_length.get(),
            index_seq_start: raw.index_seq_start.get(),
            index_seq_end: raw.index_seq_end.get(),
        };
        let offset = offset_of!(wire::DetailHeader, events_offset);
        check_events_offset(this.events_offset, file_size, offset)?;
        Ok(this)
    }

    /// Encodes the header with reserved bytes 0: the inverse of [`decode`](Self::decode).
    #[must_use]
    pub fn encode(&self) -> [u8; Self::SIZE] {
        zerocopy::transmute!(wire::DetailHeader {
            magic: wire::DetailHeader::MAGIC,
            endian: wire::DetailHeader::ENDIAN,
            version: self.wire.version(),
            arch: self.arch.into(),
            os: self.os.into(),
            flags: self.flags.into(),
            thread_id: self.thread_id.into(),
            _reserved1: 0.into(),
            events_offset: self.events_offset.into(),
            event_count: self.event_count.into(),
            bytes_length: self.bytes_length.into(),
            index_seq_start: self.index_seq_start.into(),
            index_seq_end: self.index_seq_end.into(),
            _reserved2: [0; 4],
        })
    }

    /// Returns whether the header looks like a placeholder: count, length and range 0. A finalized
    /// file without events looks the same.
    #[must_use]
    pub fn is_placeholder(&self) -> bool {
        self.event_count == 0
            && self.bytes_length == 0
            && self.index_seq_start == 0
            && self.index_seq_end == 0
    }

    /// Returns where the events end according to a rewritten header. It counts only if something
    /// else confirms it.
    pub(crate) fn stated_end(&self) -> Option<u64> {
        let is_rewritten = self.event_count > 0 && self.bytes_length > 0;
        let end = self.events_offset.checked_add(self.bytes_length);
        end.filter(|_| is_rewritten)
    }
}
