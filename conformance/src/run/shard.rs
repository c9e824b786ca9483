//! Divides a long run into shards, which can run on different machines or days.

use std::ops::Range;
use std::str::FromStr;

/// A part of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    number: usize,
    count: usize,
}

impl Shard {
    /// The only shard of a run that is not divided.
    pub const WHOLE: Self = Self {
        number: 1,
        count: 1,
    };

    /// Returns whether a case belongs to this shard. A case keeps its shard when others are added.
    #[must_use]
    pub fn takes(self, case: &str) -> bool {
        let hash = case.bytes().fold(0_usize, |hash, byte| {
            hash.wrapping_mul(31).wrapping_add(byte.into())
        });
        hash % self.count == self.number - 1
    }

    /// Returns this shard's contiguous part of a list of `total` items. All shards together cover
    /// the list.
    #[must_use]
    pub fn range(self, total: usize) -> Range<usize> {
        let end = |shards| total / self.count * shards + (total % self.count).min(shards);
        end(self.number - 1)..end(self.number)
    }
}

impl FromStr for Shard {
    type Err = &'static str;

    /// Parses a shard's number, which starts at 1, and the number of shards, such as `3/16`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str = "expected NUMBER/COUNT, such as 3/16";
        let (number, count) = text.split_once('/').ok_or(EXPECTED)?;
        let [number, count] = [number, count].map(str::parse);
        let shard = Self {
            number: number.map_err(|_| EXPECTED)?,
            count: count.map_err(|_| EXPECTED)?,
        };
        if (1..=shard.count).contains(&shard.number) {
            Ok(shard)
        } else {
            Err("expected a number from 1 to the count")
        }
    }
}
