//! A set of detail events, with one bit per event.

use crate::error::{Error, Result};

/// The set of positions seen so far.
#[derive(Debug)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    /// Creates an empty set for `count` positions.
    pub(super) fn new(count: u64) -> Result<Self> {
        let size = usize::try_from(count.div_ceil(64)).unwrap_or(usize::MAX);
        let mut words = Vec::new();
        if words.try_reserve_exact(size).is_err() {
            return Err(Error::out_of_memory());
        }
        words.resize(size, 0);
        Ok(Self(words))
    }

    pub(super) fn set(&mut self, seq: u64) {
        let (word, bit) = place(seq);
        if let Some(word) = self.0.get_mut(word) {
            *word |= bit;
        }
    }

    pub(super) fn is_set(&self, seq: u64) -> bool {
        let (word, bit) = place(seq);
        self.0.get(word).is_some_and(|word| word & bit != 0)
    }
}

fn place(seq: u64) -> (usize, u64) {
    (
        usize::try_from(seq / 64).unwrap_or(usize::MAX),
        1 << (seq % 64),
    )
}
