//! The checksum of an events section.

use crate::error::{Error, ErrorKind, Result};
use crate::rules::of_file::FileRules;
use crate::source::Input;
use crate::window::Window;
use crate::wire::offset;

/// The result of checking the footer's checksum against the events.
///
/// The checksum is the CRC-32C (Castagnoli; `"123456789"` gives 0xE3069283) of the events section,
/// in both wire versions (S2; S0, S1 and S4 specify CRC32 without a polynomial). It covers only
/// events, so no reader can detect a changed `thread_id`, `clock_type`, `arch` or `os` in a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Checksum {
    /// There is no verified footer, so nothing was compared.
    NotChecked,
    /// The footer's checksum is 0, which marks a file without a checksum (S2). Nothing was
    /// compared.
    Absent,
    /// The events match the checksum.
    Good,
    /// Checksum mismatch: the events or the checksum have changed.
    Bad {
        /// The footer's checksum.
        stored: u32,
        /// The CRC-32C of the events.
        computed: u32,
    },
    /// The footer has the IEEE CRC-32 of the events: the events are intact, but the polynomial is
    /// wrong.
    Ieee {
        /// The footer's checksum.
        stored: u32,
        /// The CRC-32C of the events.
        computed: u32,
    },
}

impl Checksum {
    /// Returns whether the checksum proves that the events are intact, which an IEEE CRC-32 also
    /// does.
    #[must_use]
    pub const fn proves_the_events(self) -> bool {
        matches!(self, Self::Good | Self::Ieee { .. })
    }

    /// Returns the error for a file whose footer is at `footer_offset`, if the checksum is not the
    /// events' CRC-32C.
    pub(crate) fn problem(
        self,
        input: &Input,
        footer_offset: u64,
        rules: &FileRules,
    ) -> Option<Error> {
        let (kind, rule) = match self {
            Self::NotChecked | Self::Absent | Self::Good => return None,
            Self::Bad { stored, computed } => {
                let kind = ErrorKind::ChecksumMismatch { stored, computed };
                (kind, rules.checksum)
            }
            Self::Ieee { stored, computed } => {
                let kind = ErrorKind::IeeeChecksum { stored, computed };
                (kind, rules.checksum_ieee)
            }
        };
        let offset = Self::offset(footer_offset);
        let error = input.error(kind).with_field("footer.checksum");
        Some(error.with_offset(offset).with_rule(rule))
    }

    /// Returns the offset of a footer's checksum, which is the same in both kinds of footer.
    pub(crate) fn offset(footer_offset: u64) -> u64 {
        const OFFSET: u64 = offset!(IndexFooter.checksum) as u64;
        const _: () = assert!(OFFSET == offset!(DetailFooter.checksum) as u64);
        footer_offset.saturating_add(OFFSET)
    }

    /// Compares `stored` with the checksum of the section from `start` to `end`.
    pub(crate) fn verify(input: &Input, stored: u32, start: u64, end: u64) -> Result<Self> {
        if stored == 0 {
            return Ok(Self::Absent);
        }
        let computed = Crc32c::of_range(input, start, end)?;
        Self::compare(input, stored, computed, start, end)
    }

    /// Compares `stored` with the CRC-32C `computed` of the section from `start` to `end`. Reads
    /// the section again only if they differ.
    pub(crate) fn compare(
        input: &Input,
        stored: u32,
        computed: u32,
        start: u64,
        end: u64,
    ) -> Result<Self> {
        if stored == 0 {
            return Ok(Self::Absent);
        }
        if stored == computed {
            return Ok(Self::Good);
        }
        let mut ieee = crc32fast::Hasher::new();
        let mut window = Window::new(input);
        let mut offset = start;
        while offset < end {
            let chunk = window.chunk(offset, end)?;
            ieee.update(chunk);
            offset = offset.saturating_add(chunk.len() as u64);
        }
        Ok(if ieee.finalize() == stored {
            Self::Ieee { stored, computed }
        } else {
            Self::Bad { stored, computed }
        })
    }
}

/// The size in bytes from which adding a hole's zeros to a checksum is faster than reading them.
const LARGE_HOLE: u64 = 16 << 20;

/// A CRC-32C computed piece by piece.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Crc32c(u32);

impl Crc32c {
    pub(crate) const fn new() -> Self {
        Self(0)
    }

    /// Adds `bytes`. Large blocks are faster: 1 KiB blocks reach about half the speed of 64 KiB
    /// blocks.
    #[inline]
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0 = crc32c::crc32c_append(self.0, bytes);
    }

    /// Computes the CRC-32C of the bytes from `start` to `end`, without reading large holes.
    pub(crate) fn of_range(input: &Input, start: u64, end: u64) -> Result<u32> {
        let mut crc = Self::new();
        let mut window = Window::new(input);
        let mut offset = start;
        while offset < end {
            let hole = window.hole(offset)?.min(end.saturating_sub(offset));
            let size = if hole >= LARGE_HOLE {
                crc.update_zeros(hole);
                hole
            } else {
                let chunk = window.chunk(offset, end)?;
                crc.update(chunk);
                chunk.len() as u64
            };
            offset = offset.saturating_add(size);
        }
        Ok(crc.finish())
    }

    /// Adds `count` zero bytes. Takes about 60 µs for each bit of `count`.
    fn update_zeros(&mut self, count: u64) {
        // The CRC-32C of `size` zeros.
        let (mut zeros, mut size) = (crc32c::crc32c(&[0]), 1_u64);
        let mut left = count;
        while left > 0 {
            if left & 1 == 1 {
                self.0 = Self::combine(self.0, zeros, size);
            }
            left >>= 1;
            zeros = Self::combine(zeros, zeros, size);
            size = size.wrapping_mul(2);
        }
    }

    #[inline]
    pub(crate) fn finish(&self) -> u32 {
        self.0
    }

    /// Appends the next part, which has `size` bytes.
    pub(crate) fn append(&mut self, next: Self, size: u64) {
        self.0 = Self::combine(self.0, next.0, size);
    }

    /// Combines the CRC-32C `a` of one part with the CRC-32C `b` of the next part, which has
    /// `size_of_b` bytes. Takes about 30 µs.
    fn combine(a: u32, b: u32, size_of_b: u64) -> u32 {
        let mut shifted = a;
        let mut left = size_of_b;
        // The loop takes a single step, except for parts of more than 4 GiB on 32-bit systems.
        while left > 0 {
            let step = usize::try_from(left).unwrap_or(usize::MAX);
            shifted = crc32c::crc32c_combine(shifted, 0, step);
            left = left.saturating_sub(step as u64);
        }
        shifted ^ b
    }
}
