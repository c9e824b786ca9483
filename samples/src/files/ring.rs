//! Builds `ring.atf`. No source describes this file; the layout is from its page in the reference.

use super::{Bytes, crc32c};

/// A kill journal to write, whose fields need not be consistent.
#[derive(Debug, Clone)]
pub struct RingFile {
    pub magic: [u8; 4],
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
            let zeros = usize::saturating_sub(room, area.bytes.len());
            bytes.raw(&super::padded(&area.bytes, zeros));
        }
        bytes.0
    }
}

/// Returns the kill journal of a writer that was killed before it wrote the bytes of both files
/// from `starts` onwards.
pub fn ring_after(version: u8, thread_id: u32, files: [&[u8]; 2], starts: [usize; 2]) -> Vec<u8> {
    let [index, detail] = [0, 1].map(|which| &files[which][starts[which]..]);
    let checksums = [0, 1].map(|which| crc32c(&files[which][64..starts[which]]));
    let mut out = Bytes::default();
    out.raw(b"ATR2").u8(1).u8(version).raw(&[0; 2]);
    out.u32(thread_id).u32(0);
    out.u64(index.len() as u64).u64(starts[0] as u64);
    out.u64(index.len() as u64);
    out.u32(checksums[0]).u32(checksums[1]);
    out.u64(detail.len() as u64).u64(starts[1] as u64);
    out.u64(detail.len() as u64).raw(&[0; 56]);
    out.raw(index).raw(detail);
    out.0
}
