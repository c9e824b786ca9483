//! The checksum of an events section.

use crate::error::Result;
use crate::source::Input;
use crate::window::Window;

/// What the footer's checksum says of the events.
///
/// It is the CRC-32C (Castagnoli; `"123456789"` gives 0xE3069283) of the events section, in both
/// wire versions (S2; S0, S1 and S4 say CRC32 without a polynomial). It covers events only: no
/// reader can notice a changed `thread_id`, `clock_type`, `arch` or `os` in a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checksum {
    /// No verified footer, so nothing to compare with.
    NotChecked,
    /// The footer has 0, which stands for none: nothing was compared (S2).
    Absent,
    /// The events are those that the checksum was made of.
    Good,
    /// The events or the checksum changed.
    Bad {
        /// The footer's checksum.
        stored: u32,
        /// The CRC-32C of the events.
        computed: u32,
    },
    /// The footer has the IEEE CRC-32 of the events: the events are whole, the polynomial is wrong.
    Ieee {
        /// The footer's checksum.
        stored: u32,
        /// The CRC-32C of the events.
        computed: u32,
    },
}

impl Checksum {
    /// Compares `stored` with the section from `start` to `end`.
    pub(crate) fn verify(input: &Input, stored: u32, start: u64, end: u64) -> Result<Self> {
        if stored == 0 {
            return Ok(Self::Absent);
        }
        let mut computed = 0;
        for_each_chunk(input, start, end, |chunk| {
            computed = crc32c::crc32c_append(computed, chunk);
        })?;
        if stored == computed {
            return Ok(Self::Good);
        }
        let mut ieee = crc32fast::Hasher::new();
        for_each_chunk(input, start, end, |chunk| ieee.update(chunk))?;
        Ok(match ieee.finalize() == stored {
            true => Self::Ieee { stored, computed },
            false => Self::Bad { stored, computed },
        })
    }
}

fn for_each_chunk(
    input: &Input,
    start: u64,
    end: u64,
    mut update: impl FnMut(&[u8]),
) -> Result<()> {
    let mut window = Window::new(input);
    let mut offset = start;
    while offset < end {
        let chunk = window.chunk(offset, end)?;
        update(chunk);
        offset = offset.saturating_add(chunk.len() as u64);
    }
    Ok(())
}
