//! A set of detail events, with one bit per event.

use crate::error::{Result, zeros};

/// The set of positions seen so far.
#[derive(Debug)]
pub(super) struct Bits(Vec<u8>);

impl Bits {
    pub(super) fn new(count: u64) -> Result<Self> {
        zeros(usize::try_from(count.div_ceil(8)).unwrap_or(usize::MAX)).map(Self)
    }

    pub(super) fn set(&mut self, seq: u64) {
        let (byte, bit) = place(seq);
        if let Some(byte) = self.0.get_mut(byte) {
            *byte |= bit;
        }
    }

    pub(super) fn is_set(&self, seq: u64) -> bool {
        let (byte, bit) = place(seq);
        self.0.get(byte).is_some_and(|byte| byte & bit != 0)
    }
}

fn place(seq: u64) -> (usize, u8) {
    (
        usize::try_from(seq / 8).unwrap_or(usize::MAX),
        1 << (seq % 8),
    )
}
