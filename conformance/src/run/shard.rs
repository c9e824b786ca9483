//! Divides a long run into shards, which can run on different machines or days.

use std::ops::Range;
use std::str::FromStr;

/// One of several parts of a run.
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

    /// Returns this shard's contiguous part of a list of `total` items. All shards together cover the list.
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

#[cfg(test)]
mod tests {
    use super::Shard;

    #[test]
    fn shards_cover_a_list_once() {
        for total in 0..20 {
            for count in 1..8 {
                let shards = (1..=count).map(|number| Shard { number, count });
                let items: Vec<_> = shards.flat_map(|shard| shard.range(total)).collect();
                assert_eq!(items, (0..total).collect::<Vec<_>>(), "{count} shards");
            }
        }
    }

    #[test]
    fn each_case_belongs_to_one_shard_and_no_shard_is_empty() {
        let shards: Vec<_> = (1..=7).map(|number| Shard { number, count: 7 }).collect();
        let takers = |case: &str| shards.iter().position(|shard| shard.takes(case));
        let cases = crate::corpus::cases();
        let mut sizes = [0; 7];
        for name in cases.iter().map(|case| &case.name) {
            assert_eq!(shards.iter().filter(|shard| shard.takes(name)).count(), 1);
            sizes[takers(name).unwrap()] += 1;
        }
        assert!(
            sizes
                .iter()
                .all(|size| (8..18).contains(&(100 * size / cases.len()))),
            "{sizes:?}"
        );
    }

    #[test]
    fn only_shards_that_exist_are_accepted() {
        assert_eq!("1/1".parse(), Ok(Shard::WHOLE));
        for text in ["", "1", "0/2", "3/2", "1/0", "-1/2", "1/2/3"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
