//! Random numbers, the same for a seed on every machine.

/// A generator of random numbers (`SplitMix64`).
#[derive(Debug)]
pub struct Random(u64);

impl Random {
    /// Creates a generator from a seed. Similar seeds yield different numbers.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next number, from the whole range.
    pub const fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ (value >> 31)
    }

    /// Returns a number less than `end`, or 0 if `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        let number = self.number() % (end as u64).max(1);
        usize::try_from(number).expect("it fits into a usize")
    }

    /// Returns one of the items.
    ///
    /// # Panics
    ///
    /// Panics if the slice is empty.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}
