//! What a reader knows of a file.

use std::mem::size_of;

use atf::{Checksum, Completeness, CountSource};

use crate::memory::Plain;

/// `AtfFileInfo`: header, end and completeness of an `index.atf` or a `detail.atf`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct AtfFileInfo {
    /// Events that can be read.
    pub event_count: u64,
    /// The size of the file in bytes, when it was opened.
    pub file_size: u64,
    /// Where the events begin, bytes from the start of the file.
    pub events_offset: u64,
    /// Where they end.
    pub events_end: u64,
    /// Where the verified footer stands, or 0.
    pub footer_offset: u64,
    /// Bytes behind the verified footer, where nothing belongs.
    pub bytes_after_footer: u64,
    /// Bytes behind the last whole event that belong to none.
    pub trailing_bytes: u64,
    /// Bytes of zeros at the end.
    pub zero_tail_bytes: u64,
    /// The thread of the header.
    pub thread_id: u32,
    /// The flags of the header: `ATF_INDEX_FLAG_*`.
    pub flags: u32,
    /// The wire version: 1 or 2.
    pub wire: u8,
    /// The processor: `ATF_ARCH_*`.
    pub arch: u8,
    /// The operating system: `ATF_OS_*`.
    pub os: u8,
    /// The clock: `ATF_CLOCK_*`; 0 for a `detail.atf`, which does not say.
    pub clock_type: u8,
    /// How the file ends: `AtfCompleteness`.
    pub completeness: u8,
    /// What `event_count` rests on: `AtfCountSource`.
    pub count_source: u8,
    /// What is known of the checksum: `AtfChecksum`.
    pub checksum: u8,
    /// 0.
    pub reserved: [u8; 1],
}

const _: () = assert!(size_of::<AtfFileInfo>() == 80);

// SAFETY: numbers in C's layout.
unsafe impl Plain for AtfFileInfo {
    const ZERO: Self = Self {
        event_count: 0,
        file_size: 0,
        events_offset: 0,
        events_end: 0,
        footer_offset: 0,
        bytes_after_footer: 0,
        trailing_bytes: 0,
        zero_tail_bytes: 0,
        thread_id: 0,
        flags: 0,
        wire: 0,
        arch: 0,
        os: 0,
        clock_type: 0,
        completeness: 0,
        count_source: 0,
        checksum: 0,
        reserved: [0; 1],
    };
}

impl AtfFileInfo {
    /// Says how the file ends.
    pub(crate) fn with_end(mut self, end: &Completeness, count: CountSource) -> Self {
        self.completeness = match end {
            Completeness::Finalized => 0,
            Completeness::FooterUnderPlaceholder => 1,
            Completeness::Unfinalized { .. } => 2,
            Completeness::DamagedFooter { .. } => 3,
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
            Completeness::Finalized | Completeness::FooterUnderPlaceholder => {}
        }
        self.count_source = match count {
            CountSource::Footer => 0,
            CountSource::FooterPosition => 1,
            CountSource::FileSize => 2,
            CountSource::Framing => 3,
        };
        self
    }
}

/// `AtfChecksum`: what the footer's checksum says of the events.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtfChecksum {
    /// No verified footer, so nothing to compare with.
    NotChecked = 0,
    /// The footer has 0, which stands for none.
    Absent = 1,
    /// The events are those that it was made of.
    Good = 2,
    /// The events or the checksum changed.
    Bad = 3,
    /// It is the IEEE CRC-32 of the events: they are whole, the polynomial is wrong.
    Ieee = 4,
    /// There is one, and nothing has compared it with the events yet.
    Unknown = 5,
}

/// What is known of a checksum, as `AtfFileInfo` says it.
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
        }
    }
}
