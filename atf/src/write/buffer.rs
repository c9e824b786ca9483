//! Buffers for events before they are written.

use crate::error::{Result, zeros};
use crate::sys::JournalArea;

/// Memory for events that are not yet in the file.
#[derive(Debug)]
pub(super) enum Buffer {
    /// Ordinary memory, which is lost with the process.
    Memory(Vec<u8>),
    /// An area of `ring.atf`, which outlives the process.
    Journal(JournalArea),
}

impl Buffer {
    pub(super) fn memory(capacity: usize) -> Result<Self> {
        zeros(capacity).map(Self::Memory)
    }

    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Memory(bytes) => bytes,
            Self::Journal(area) => area.bytes(),
        }
    }

    #[inline]
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Memory(bytes) => bytes,
            Self::Journal(area) => area.bytes_mut(),
        }
    }

    /// Publishes the first `size` bytes as events.
    #[inline]
    pub(super) fn publish(&self, size: usize) {
        if let Self::Journal(area) = self {
            area.publish(size);
        }
    }

    /// Moves the empty buffer to offset `start` in its file, after events with this checksum.
    pub(super) fn move_to(&self, start: u64, checksum: u32) {
        if let Self::Journal(area) = self {
            area.move_to(start, checksum);
        }
    }

    pub(super) fn is_journal(&self) -> bool {
        matches!(self, Self::Journal(_))
    }
}
