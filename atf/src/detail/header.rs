//! The header of `detail.atf`.

use crate::error::Result;
use crate::header::{check_events_offset, wire};
use crate::rules::of_file::DETAIL;
use crate::wire::{HEADER_SIZE, Wire, offset};

pub use crate::wire::decoded::DetailHeader;

impl DetailHeader {
    /// Creates the placeholder for a file without events. Fields that are not known yet are 0.
    #[must_use]
    pub const fn new(wire: Wire, thread_id: u32) -> Self {
        Self {
            thread_id,
            events_offset: HEADER_SIZE as u64,
            ..Self::blank(wire)
        }
    }

    /// Decodes and checks the header of a file of `file_size` bytes.
    ///
    /// # Errors
    ///
    /// [`BadMagic`](crate::ErrorKind::BadMagic), [`BadEndian`](crate::ErrorKind::BadEndian),
    /// [`UnknownVersion`](crate::ErrorKind::UnknownVersion),
    /// [`BadEventsOffset`](crate::ErrorKind::BadEventsOffset), each pointing at its field.
    pub fn decode(bytes: &[u8; Self::SIZE], file_size: u64) -> Result<Self> {
        let this = Self::from_bytes(wire(bytes, Self::MAGIC, DETAIL.identity)?, bytes);
        let offset = offset!(this.wire, DetailHeader.events_offset);
        check_events_offset(this.events_offset, file_size, offset, &DETAIL)?;
        Ok(this)
    }

    /// Encodes the header, with reserved bytes set to 0: the inverse of [`decode`](Self::decode).
    #[must_use]
    pub fn encode(&self) -> [u8; Self::SIZE] {
        self.bytes()
    }

    /// Returns whether the header looks like a placeholder: count, length and range are 0. The
    /// header of a finalized file without events looks the same.
    #[must_use]
    pub fn is_placeholder(&self) -> bool {
        self.event_count == 0
            && self.bytes_length == 0
            && self.index_seq_start == 0
            && self.index_seq_end == 0
    }

    /// Returns where the events end according to a rewritten header. Trust this offset only if
    /// other data confirms it.
    pub(crate) fn stated_end(&self) -> Option<u64> {
        let is_rewritten = self.event_count > 0 && self.bytes_length > 0;
        let end = self.events_offset.checked_add(self.bytes_length);
        end.filter(|_| is_rewritten)
    }
}
