//! Builds `ring.atf`. No source describes this file; the layout is from its page in the reference.

use super::Bytes;

/// A ring to write; its fields need not be consistent.
#[derive(Debug, Clone)]
pub struct RingFile {
    pub magic: [u8; 4],
    pub version: u8,
    pub thread_id: u32,
    pub index: RingArea,
    pub detail: RingArea,
}

/// One of the two areas of a ring.
#[derive(Debug, Clone, Default)]
pub struct RingArea {
    pub capacity: u64,
    pub start: u64,
    pub checksum: u32,
    pub bytes: Vec<u8>,
}

impl RingFile {
    /// Returns the ring of a thread whose files contain all events.
    pub fn of(version: u8, thread_id: u32) -> Self {
        let area = |capacity| RingArea {
            capacity,
            ..RingArea::default()
        };
        Self {
            magic: *b"ATR2",
            version,
            thread_id,
            index: area(64),
            detail: area(128),
        }
    }

    /// Returns the file's bytes.
    pub fn bytes(&self) -> Vec<u8> {
        let (index, detail) = (&self.index, &self.detail);
        let mut bytes = Bytes::default();
        bytes.raw(&self.magic).u8(1).u8(self.version).u16(0);
        bytes.u32(self.thread_id).u32(0);
        bytes.u64(index.capacity).u64(index.start);
        bytes.u64(index.bytes.len() as u64);
        bytes.u32(index.checksum).u32(detail.checksum);
        bytes.u64(detail.capacity).u64(detail.start);
        bytes.u64(detail.bytes.len() as u64).raw(&[0; 56]);
        for (area, room) in [(index, 64), (detail, 128)] {
            bytes.raw(&super::padded(&area.bytes, room - area.bytes.len()));
        }
        bytes.0
    }
}
