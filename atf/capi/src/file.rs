//! A file's header fields, layout and completeness, for C.

use std::mem::size_of;

use atf::{Checksum, Completeness, CountSource};

use crate::memory::Plain;

/// `AtfFileInfo`: the header fields, layout and completeness of an `index.atf` or a `detail.atf`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct AtfFileInfo {
    /// Events that can be read.
    pub event_count: u64,
    /// The size of the file in bytes when it was opened.
    pub file_size: u64,
    /// The offset of the first event.
    pub events_offset: u64,
    /// The offset after the last event.
    pub events_end: u64,
    /// The offset of the verified footer, or 0.
    pub footer_offset: u64,
    /// Bytes after the verified footer, where the file should have ended.
    pub bytes_after_footer: u64,
    /// Bytes after the last complete event that belong to no event.
    pub trailing_bytes: u64,
    /// Bytes at the end that are all 0.
    pub zero_tail_bytes: u64,
    /// The header's thread.
    pub thread_id: u32,
    /// The header's flags: `ATF_INDEX_FLAG_*`.
    pub flags: u32,
    /// The wire version: 1 or 2.
    pub wire: u8,
    /// The processor: `ATF_ARCH_*`.
    pub arch: u8,
    /// The operating system: `ATF_OS_*`.
    pub os: u8,
    /// The clock: `ATF_CLOCK_*`; 0 for a `detail.atf`, which does not record it.
    pub clock_type: u8,
    /// How the file ends: `AtfCompleteness`.
    pub completeness: u8,
    /// Where `event_count` comes from: `AtfCountSource`.
    pub count_source: u8,
    /// The checksum's state, as far as known: `AtfChecksum`.
    pub checksum: u8,
    /// 0.
    pub reserved: [u8; 1],
}

const _: () = assert!(size_of::<AtfFileInfo>() == 80);

// SAFETY: `repr(C)`, and all members are numbers.
unsafe impl Plain for AtfFileInfo {}

impl AtfFileInfo {
    /// Sets the members that describe how the file ends.
    pub(crate) fn with_end(mut self, end: &Completeness, count: CountSource) -> Self {
        self.completeness = match end {
            Completeness::Finalized => 0,
            Completeness::HeaderNotUpdated => 1,
            Completeness::DamagedFooter { .. } => 3,
            _ => 2,
        };
        match *end {
            Completeness::Unfinalized {
                trailing_bytes,
                zero_tail_bytes,
                ..
            } => {
                self.trailing_bytes = trailing_bytes;
                self.zero_tail_bytes = zero_tail_bytes;
            }
            Completeness::DamagedFooter { trailing_bytes, .. } => {
                self.trailing_bytes = trailing_bytes;
            }
            _ => {}
        }
        self.count_source = match count {
            CountSource::Footer => 0,
            CountSource::FooterPosition => 1,
            CountSource::Framing => 3,
            _ => 2,
        };
        self
    }
}

/// `AtfChecksum`: the state of the footer's checksum.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtfChecksum {
    /// There is no verified footer to compare with.
    NotChecked = 0,
    /// The footer's checksum is 0, which means that none was computed.
    Absent = 1,
    /// The events match the checksum.
    Good = 2,
    /// The events do not match the checksum.
    Bad = 3,
    /// The checksum is an IEEE CRC-32 instead of a CRC-32C: the events are intact, but the
    /// polynomial is wrong.
    Ieee = 4,
    /// There is a checksum, but it has not been compared with the events yet.
    Unknown = 5,
}

/// Returns the state of a checksum, as stored in `AtfFileInfo`.
pub(crate) fn known(checksum: Option<Checksum>) -> u8 {
    checksum.map_or(AtfChecksum::Unknown, AtfChecksum::from) as u8
}

impl From<Checksum> for AtfChecksum {
    fn from(checksum: Checksum) -> Self {
        match checksum {
            Checksum::NotChecked => Self::NotChecked,
            Checksum::Absent => Self::Absent,
            Checksum::Good => Self::Good,
            Checksum::Bad { .. } => Self::Bad,
            Checksum::Ieee { .. } => Self::Ieee,
            _ => Self::Unknown,
        }
    }
}
