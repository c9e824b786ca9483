//! Where events wait until they are written.

use crate::sys::RingArea;

/// Memory for the events that are not in the file yet.
#[derive(Debug)]
pub(super) enum Buffer {
    /// Ordinary memory, which is lost with the process.
    Memory(Vec<u8>),
    /// An area of `ring.atf`, which is not.
    Ring(RingArea),
}

impl Buffer {
    pub(super) fn memory(capacity: usize) -> Self {
        Self::Memory(vec![0; capacity])
    }

    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Memory(bytes) => bytes,
            Self::Ring(area) => area.bytes(),
        }
    }

    #[inline]
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Memory(bytes) => bytes,
            Self::Ring(area) => area.bytes_mut(),
        }
    }

    /// Says that the first `size` bytes are events.
    #[inline]
    pub(super) fn publish(&self, size: usize) {
        if let Self::Ring(area) = self {
            area.publish(size);
        }
    }

    /// Says where in its file the empty buffer belongs, behind events with this checksum.
    pub(super) fn move_to(&self, start: u64, checksum: u32) {
        if let Self::Ring(area) = self {
            area.move_to(start, checksum);
        }
    }

    pub(super) fn is_ring(&self) -> bool {
        matches!(self, Self::Ring(_))
    }
}
