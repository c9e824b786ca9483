//! Pseudorandom numbers that are the same on every machine.

/// `SplitMix64` (Steele, Lea, Flood 2014), which mixes a counter.
///
/// It is implemented here because its numbers determine the bytes of every trace, and a new version
/// of an external crate could change them. Only integers are drawn, because floating-point results
/// differ if a compiler fuses multiplication and addition.
#[derive(Debug, Clone)]
pub(crate) struct Random {
    state: u64,
}

impl Random {
    /// Returns stream `stream` of a seed; streams of one seed are independent.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        Self {
            state: mix(mix(seed) ^ stream),
        }
    }

    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.state)
    }

    /// Returns a number from 0 to `n` − 1, uniform to within n / 2³², or 0 if `n` is 0.
    #[inline]
    pub(crate) fn below(&mut self, n: u32) -> u32 {
        let high = self.next() >> 32;
        ((high * u64::from(n)) >> 32) as u32
    }

    /// Returns a number from `low` to `high` inclusive, or `low` if `high` is less.
    #[inline]
    pub(crate) fn between(&mut self, low: u32, high: u32) -> u32 {
        low + self.below(high.saturating_sub(low).saturating_add(1))
    }

    /// Returns true with a probability of 1 / `n`.
    #[inline]
    pub(crate) fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    /// Returns a number r from 0 to `n` − 1 with a probability roughly proportional to 1 / (r + 1):
    /// Zipf's law. Drawing a power of two and then a number below it avoids logarithms.
    #[inline]
    pub(crate) fn zipf(&mut self, n: u32) -> u32 {
        let powers = u32::BITS - n.leading_zeros();
        loop {
            let power = 1 << self.below(powers);
            let rank = power - 1 + self.below(power);
            if rank < n || n == 0 {
                return rank;
            }
        }
    }
}

fn mix(state: u64) -> u64 {
    let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn draws_stay_in_their_range() {
        let mut random = Random::new(1, 2);
        for n in [1, 2, 3, 7, 100, 2048, u32::MAX] {
            for _ in 0..200 {
                assert!(random.below(n) < n);
                assert!(random.zipf(n) < n);
                assert!((5..=n.max(5)).contains(&random.between(5, n)));
            }
        }
        assert_eq!((random.below(0), random.zipf(0)), (0, 0));
    }
}
