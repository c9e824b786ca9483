//! The header of `index.atf`.

use std::mem::offset_of;

use super::event::EVENT_SIZE;
use crate::error::{ErrorKind, Result, out_of_range};
use crate::header::{HEADER_SIZE, check_events_offset, error, wire};
use crate::setters::setters;
use crate::wire::{Arch, Clock, INDEX_EVENT_SIZE, IndexFlags, Os, Wire, offset, v1, v2};

/// The header of `index.atf`, the first 64 bytes, from either wire version.
///
/// A writer first writes a placeholder and rewrites it when it finalizes the file (S0, S1), so
/// count, times and `footer_offset` are 0 or wrong in an unfinalized file. If header and verified
/// footer disagree, the footer counts (S2).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexHeader {
    /// The file's wire version.
    pub wire: Wire,
    /// The processor architecture.
    pub arch: Arch,
    /// The operating system.
    pub os: Os,
    /// Flags; unknown bits are kept.
    pub flags: IndexFlags,
    /// The thread of all events in the file. The tracer decides whether it is the operating
    /// system's id.
    pub thread_id: u32,
    /// The clock of the timestamps. Tracers in the field write 1 on Linux too.
    pub clock_type: Clock,
    /// Bytes of an event: always 32.
    pub event_size: u32,
    /// Number of events; 32 bits in wire version 1.
    pub event_count: u64,
    /// Bytes from the start of the file to the first event.
    pub events_offset: u64,
    /// Bytes from the start of the file to the footer.
    pub footer_offset: u64,
    /// Timestamp of the first event, in nanoseconds.
    pub time_start_ns: u64,
    /// Timestamp of the last event, in nanoseconds.
    pub time_end_ns: u64,
}

impl IndexHeader {
    /// Creates the placeholder of a file without events: all other fields are 0.
    #[must_use]
    pub const fn new(wire: Wire, thread_id: u32) -> Self {
        Self {
            wire,
            arch: Arch(0),
            os: Os(0),
            flags: IndexFlags(0),
            thread_id,
            clock_type: Clock(0),
            event_size: INDEX_EVENT_SIZE,
            event_count: 0,
            events_offset: HEADER_SIZE as u64,
            footer_offset: 0,
            time_start_ns: 0,
            time_end_ns: 0,
        }
    }
}

setters!(IndexHeader {
    arch: Arch,
    os: Os,
    flags: IndexFlags,
    clock_type: Clock,
    event_count: u64,
    events_offset: u64,
    footer_offset: u64,
    time_start_ns: u64,
    time_end_ns: u64,
});

impl IndexHeader {
    /// Its size in bytes, in either wire version.
    pub const SIZE: usize = HEADER_SIZE;

    /// Decodes and checks a header at the start of a file of `file_size` bytes.
    ///
    /// # Errors
    ///
    /// [`BadMagic`](ErrorKind::BadMagic), [`BadEndian`](ErrorKind::BadEndian),
    /// [`UnknownVersion`](ErrorKind::UnknownVersion), [`BadEventSize`](ErrorKind::BadEventSize),
    /// [`BadEventsOffset`](ErrorKind::BadEventsOffset), each pointing at its field, and
    /// [`WrongLayoutForVersion`](ErrorKind::WrongLayoutForVersion), pointing at `version`: a
    /// header of version 2 with 32 events would pass for a placeholder of version 1.
    pub fn decode(bytes: &[u8; Self::SIZE], file_size: u64) -> Result<Self> {
        let this = match wire(bytes, v1::IndexHeader::MAGIC)? {
            Wire::V1 => Self::from_v1(&zerocopy::transmute!(*bytes)),
            Wire::V2 => Self::from_v2(&zerocopy::transmute!(*bytes)),
        };
        this.check_layout(bytes)?;
        let expected = INDEX_EVENT_SIZE;
        if this.event_size != expected {
            let kind = ErrorKind::BadEventSize {
                found: this.event_size,
                expected,
            };
            let offset = offset!(this.wire, IndexHeader.event_size);
            return Err(error(kind, "header.event_size", offset));
        }
        let offset = offset!(this.wire, IndexHeader.events_offset);
        check_events_offset(this.events_offset, file_size, offset)?;
        Ok(this)
    }

    /// Encodes the header with reserved bytes 0: the inverse of [`decode`](Self::decode).
    ///
    /// # Errors
    ///
    /// [`OutOfRange`](ErrorKind::OutOfRange) at `header.event_count`: version 1 has 32 bits for it.
    pub fn encode(&self) -> Result<[u8; Self::SIZE]> {
        match self.wire {
            Wire::V1 => Ok(zerocopy::transmute!(self.to_v1()?)),
            Wire::V2 => Ok(zerocopy::transmute!(self.to_v2())),
        }
    }

    /// Returns whether the header looks like a placeholder: flags, count and times 0,
    /// `footer_offset` 0 or the end of the header. A finalized file without events can look the
    /// same.
    #[must_use]
    pub fn is_placeholder(&self) -> bool {
        u32::from(self.flags) == 0
            && self.event_count == 0
            && self.time_start_ns == 0
            && self.time_end_ns == 0
            && (self.footer_offset == 0 || self.footer_offset == Self::SIZE as u64)
    }

    /// Returns whether `flags` claim a `detail.atf` next to the file. The flag means nothing in an
    /// unfinalized file.
    #[must_use]
    pub fn has_detail_file(&self) -> bool {
        self.flags.contains(IndexFlags::HAS_DETAIL_FILE)
    }

    /// Returns whether the header was rewritten and its count matches its `footer_offset`. If so,
    /// only a footer can be at that offset, never an event. A count of 0 proves nothing: a
    /// placeholder with flags set early looks the same.
    pub(crate) fn is_bounded(&self) -> bool {
        let bytes = self.event_count.checked_mul(EVENT_SIZE);
        let end = bytes.and_then(|bytes| bytes.checked_add(self.events_offset));
        self.event_count > 0 && end == Some(self.footer_offset)
    }

    /// Detects the layout of one wire version with the `version` byte of the other, by the bytes
    /// that are `event_size` in version 2 and reserved in version 1.
    fn check_layout(&self, bytes: &[u8; Self::SIZE]) -> Result<()> {
        let as_v1: v1::IndexHeader = zerocopy::transmute!(*bytes);
        let as_v2: v2::IndexHeader = zerocopy::transmute!(*bytes);
        let layout = match self.wire {
            Wire::V1 if as_v2.event_size.get() == v2::IndexHeader::EVENT_SIZE => Wire::V2,
            Wire::V2 if as_v1._reserved2.get() == 0 => Wire::V1,
            wire => wire,
        };
        if layout == self.wire {
            return Ok(());
        }
        let kind = ErrorKind::WrongLayoutForVersion {
            version: self.wire,
            layout,
        };
        Err(error(
            kind,
            "header.version",
            offset_of!(v1::IndexHeader, version),
        ))
    }

    fn to_v1(&self) -> Result<v1::IndexHeader> {
        let event_count = u32::try_from(self.event_count)
            .map_err(|_| out_of_range("header.event_count", self.event_count, u32::MAX.into()))?;
        Ok(v1::IndexHeader {
            magic: v1::IndexHeader::MAGIC,
            endian: v1::IndexHeader::ENDIAN,
            version: v1::IndexHeader::VERSION,
            arch: self.arch.into(),
            os: self.os.into(),
            flags: u32::from(self.flags).into(),
            thread_id: self.thread_id.into(),
            clock_type: self.clock_type.into(),
            _reserved1: [0; 3],
            _reserved2: 0.into(),
            event_size: self.event_size.into(),
            event_count: event_count.into(),
            events_offset: self.events_offset.into(),
            footer_offset: self.footer_offset.into(),
            time_start_ns: self.time_start_ns.into(),
            time_end_ns: self.time_end_ns.into(),
        })
    }

    fn to_v2(&self) -> v2::IndexHeader {
        v2::IndexHeader {
            magic: v2::IndexHeader::MAGIC,
            endian: v2::IndexHeader::ENDIAN,
            version: v2::IndexHeader::VERSION,
            arch: self.arch.into(),
            os: self.os.into(),
            flags: u32::from(self.flags).into(),
            thread_id: self.thread_id.into(),
            clock_type: self.clock_type.into(),
            _reserved1: [0; 3],
            event_size: self.event_size.into(),
            event_count: self.event_count.into(),
            events_offset: self.events_offset.into(),
            footer_offset: self.footer_offset.into(),
            time_start_ns: self.time_start_ns.into(),
            time_end_ns: self.time_end_ns.into(),
        }
    }

    fn from_v1(raw: &v1::IndexHeader) -> Self {
        Self {
            wire: Wire::V1,
            arch: raw.arch.into(),
            os: raw.os.into(),
            flags: raw.flags.get().into(),
            thread_id: raw.thread_id.get(),
            clock_type: raw.clock_type.into(),
            event_size: raw.event_size.get(),
            event_count: raw.event_count.get().into(),
            events_offset: raw.events_offset.get(),
            footer_offset: raw.footer_offset.get(),
            time_start_ns: raw.time_start_ns.get(),
            time_end_ns: raw.time_end_ns.get(),
        }
    }

    fn from_v2(raw: &v2::IndexHeader) -> Self {
        Self {
            wire: Wire::V2,
            arch: raw.arch.into(),
            os: raw.os.into(),
            flags: raw.flags.get().into(),
            thread_id: raw.thread_id.get(),
            clock_type: raw.clock_type.into(),
            event_size: raw.event_size.get(),
            event_count: raw.event_count.get(),
            events_offset: raw.events_offset.get(),
            footer_offset: raw.footer_offset.get(),
            time_start_ns: raw.time_start_ns.get(),
            time_end_ns: raw.time_end_ns.get(),
        }
    }
}
