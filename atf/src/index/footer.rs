//! The footer of `index.atf`.

use std::mem::offset_of;

use super::event::EVENT_SIZE;
use crate::error::ErrorKind;
use crate::footer::{FOOTER_SIZE, Footer};
use crate::setters::setters;
use crate::wire;

/// The footer of `index.atf`, 64 bytes after the last event, the same in both wire versions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexFooter {
    /// CRC-32C of the events section; 0 means no checksum.
    pub checksum: u32,
    /// Number of events.
    pub event_count: u64,
    /// Timestamp of the first event, in nanoseconds.
    pub time_start_ns: u64,
    /// Timestamp of the last event, in nanoseconds.
    pub time_end_ns: u64,
    /// Bytes of the events section.
    pub bytes_written: u64,
}

setters!(IndexFooter {
    checksum: u32,
    event_count: u64,
    time_start_ns: u64,
    time_end_ns: u64,
    bytes_written: u64,
});

impl IndexFooter {
    /// Its size in bytes.
    pub const SIZE: usize = FOOTER_SIZE;

    /// Encodes the footer with reserved bytes 0.
    #[must_use]
    pub fn encode(&self) -> [u8; Self::SIZE] {
        zerocopy::transmute!(wire::IndexFooter {
            magic: wire::IndexFooter::MAGIC,
            checksum: self.checksum.into(),
            event_count: self.event_count.into(),
            time_start_ns: self.time_start_ns.into(),
            time_end_ns: self.time_end_ns.into(),
            bytes_written: self.bytes_written.into(),
            reserved: [0; 24],
        })
    }
}

impl Footer for IndexFooter {
    const MAGIC: [u8; 4] = wire::IndexFooter::MAGIC;

    fn decode(bytes: &[u8; FOOTER_SIZE]) -> Self {
        let raw: wire::IndexFooter = zerocopy::transmute!(*bytes);
        Self {
            checksum: raw.checksum.get(),
            event_count: raw.event_count.get(),
            time_start_ns: raw.time_start_ns.get(),
            time_end_ns: raw.time_end_ns.get(),
            bytes_written: raw.bytes_written.get(),
        }
    }

    fn reserved_is_zero(bytes: &[u8; FOOTER_SIZE]) -> bool {
        let raw: wire::IndexFooter = zerocopy::transmute!(*bytes);
        raw.reserved.iter().all(|byte| *byte == 0)
    }

    fn problems(&self, section_bytes: u64) -> Vec<(ErrorKind, &'static str, usize)> {
        let mut problems = Vec::new();
        let counted_bytes = self.event_count.checked_mul(EVENT_SIZE);
        if counted_bytes != Some(section_bytes) {
            let kind = ErrorKind::CountDoesNotFit {
                found: self.event_count,
                section_bytes,
            };
            let offset = offset_of!(wire::IndexFooter, event_count);
            problems.push((kind, "footer.event_count", offset));
        }
        if self.bytes_written != section_bytes {
            let kind = ErrorKind::LengthDoesNotFit {
                found: self.bytes_written,
                section_bytes,
            };
            let offset = offset_of!(wire::IndexFooter, bytes_written);
            problems.push((kind, "footer.bytes_written", offset));
        }
        problems
    }
}
