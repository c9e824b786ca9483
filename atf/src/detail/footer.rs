//! The footer of `detail.atf`.

use std::mem::offset_of;

use crate::error::ErrorKind;
use crate::footer::{FOOTER_SIZE, Footer};
use crate::setters::setters;
use crate::wire;

/// The footer of `detail.atf`, 64 bytes after the last event, the same in both wire versions.
///
/// Its length comes before its times; in the footer of `index.atf` the times come first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DetailFooter {
    /// CRC-32C of the events section; 0 means no checksum.
    pub checksum: u32,
    /// Number of events.
    pub event_count: u64,
    /// Bytes of the events section.
    pub bytes_length: u64,
    /// Timestamp of the first event, in nanoseconds.
    pub time_start_ns: u64,
    /// Timestamp of the last event, in nanoseconds.
    pub time_end_ns: u64,
}

setters!(DetailFooter {
    checksum: u32,
    event_count: u64,
    bytes_length: u64,
    time_start_ns: u64,
    time_end_ns: u64,
});

impl DetailFooter {
    /// Its size in bytes.
    pub const SIZE: usize = FOOTER_SIZE;

    /// Encodes the footer with reserved bytes 0.
    #[must_use]
    pub fn encode(&self) -> [u8; Self::SIZE] {
        zerocopy::transmute!(wire::DetailFooter {
            magic: wire::DetailFooter::MAGIC,
            checksum: self.checksum.into(),
            event_count: self.event_count.into(),
            bytes_length: self.bytes_length.into(),
            time_start_ns: self.time_start_ns.into(),
            time_end_ns: self.time_end_ns.into(),
            reserved: [0; 24],
        })
    }

    /// The offset of the count within the footer.
    pub(crate) const COUNT_OFFSET: usize = offset_of!(wire::DetailFooter, event_count);
}

impl Footer for DetailFooter {
    const MAGIC: [u8; 4] = wire::DetailFooter::MAGIC;

    fn decode(bytes: &[u8; FOOTER_SIZE]) -> Self {
        let raw: wire::DetailFooter = zerocopy::transmute!(*bytes);
        Self {
            checksum: raw.checksum.get(),
            event_count: raw.event_count.get(),
            bytes_length: raw.bytes_length.get(),
            time_start_ns: raw.time_start_ns.get(),
            time_end_ns: raw.time_end_ns.get(),
        }
    }

    fn reserved_is_zero(bytes: &[u8; FOOTER_SIZE]) -> bool {
        let raw: wire::DetailFooter = zerocopy::transmute!(*bytes);
        raw.reserved.iter().all(|byte| *byte == 0)
    }

    /// The count is compared with the events later, after they are counted.
    fn problems(&self, section_bytes: u64) -> Vec<(ErrorKind, &'static str, usize)> {
        if self.bytes_length == section_bytes {
            return Vec::new();
        }
        let kind = ErrorKind::LengthDoesNotFit {
            found: self.bytes_length,
            section_bytes,
        };
        let offset = offset_of!(wire::DetailFooter, bytes_length);
        vec![(kind, "footer.bytes_length", offset)]
    }
}
