//! Builds `ring.atf`. No source describes this file; the layout is from its page in the reference.

use super::{Bytes, crc32c};

/// A kill journal to write, whose fields need not be consistent.
#[derive(Debug, Clone)]
pub struct RingFile {
    pub version: u8,
    pub thread_id: u32,
    pub index: RingArea,
    pub detail: RingArea,
}

/// One of the two areas of a kill journal.
#[derive(Debug, Clone, Default)]
pub struct RingArea {
    pub capacity: u64,
    pub start: u64,
    pub checksum: u32,
    pub bytes: Vec<u8>,
}

impl RingFile {
    /// Returns the kill journal of a thread whose files contain all events.
    pub fn new(version: u8, thread_id: u32) -> Self {
        let area = |capacity| RingArea {
            capacity,
            ..RingArea::default()
        };
        Self {
            version,
            thread_id,
            index: area(64),
            detail: area(128),
        }
    }

    /// Returns the file's bytes. Each area is filled with zeros up to its capacity.
    pub fn bytes(&self) -> Vec<u8> {
        let (index, detail) = (&self.index, &self.detail);
        let mut bytes = Bytes::default();
        bytes.raw(b"ATR2").u8(1).u8(self.version).u16(0);
        bytes.u32(self.thread_id).u32(0);
        bytes.u64(index.capacity).u64(index.start);
        bytes.u64(index.bytes.len() as u64);
        bytes.u32(index.checksum).u32(detail.checksum);
        bytes.u64(detail.capacity).u64(detail.start);
        bytes.u64(detail.bytes.len() as u64).raw(&[0; 56]);
        for area in [index, detail] {
            let capacity = usize::try_from(area.capacity).unwrap();
            let zeros = capacity.saturating_sub(area.bytes.len());
            bytes.raw(&super::padded(&area.bytes, zeros));
        }
        bytes.0
    }
}

/// Returns the kill journal of a writer that was killed before it wrote the bytes of both files
/// from `starts` onwards. Its areas are full.
pub fn ring_after(version: u8, thread_id: u32, files: [&[u8]; 2], starts: [usize; 2]) -> Vec<u8> {
    let [index, detail] = [0, 1].map(|which| {
        let (before, after) = files[which].split_at(starts[which]);
        RingArea {
            capacity: after.len() as u64,
            start: before.len() as u64,
            checksum: crc32c(&before[64..]),
            bytes: after.to_vec(),
        }
    });
    let ring = RingFile {
        index,
        detail,
        ..RingFile::new(version, thread_id)
    };
    ring.bytes()
}
