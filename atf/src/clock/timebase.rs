//! Converts ticks to nanoseconds.

use std::num::{NonZeroU64, NonZeroU128};

/// The length of a clock tick: `numer / denom` nanoseconds.
///
/// ```
/// use atf::clock::Timebase;
///
/// // Apple silicon counts at 24 MHz: 125/3 ns per tick.
/// let apple = Timebase::new(125, 3).unwrap();
/// assert_eq!(apple.to_ns(24_000_000), 1_000_000_000);
/// assert_eq!(Timebase::from_frequency(24_000_000), Timebase::new(1_000_000_000, 24_000_000));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timebase {
    numer: NonZeroU64,
    denom: NonZeroU64,
}

const NS_PER_SECOND: u64 = 1_000_000_000;

impl Timebase {
    /// A tick is a nanosecond.
    pub const NANOSECONDS: Self = Self {
        numer: NonZeroU64::MIN,
        denom: NonZeroU64::MIN,
    };

    /// Creates a tick of `numer / denom` nanoseconds, as reported by `mach_timebase_info`; returns
    /// `None` if either is 0.
    #[must_use]
    pub const fn new(numer: u64, denom: u64) -> Option<Self> {
        match (NonZeroU64::new(numer), NonZeroU64::new(denom)) {
            (Some(numer), Some(denom)) => Some(Self { numer, denom }),
            _ => None,
        }
    }

    /// Creates a tick of `1 / ticks_per_second` seconds, as reported by
    /// `QueryPerformanceFrequency`; returns `None` for 0.
    #[must_use]
    pub const fn from_frequency(ticks_per_second: u64) -> Option<Self> {
        Self::new(NS_PER_SECOND, ticks_per_second)
    }

    /// Converts ticks to nanoseconds, rounded down. The result is exact for all inputs, except that
    /// it saturates at [`u64::MAX`].
    #[must_use]
    #[inline]
    pub fn to_ns(self, ticks: u64) -> u64 {
        let numer = self.numer.get();
        // With ticks = whole * denom + rest, the result is whole * numer + rest * numer / denom,
        // where the last term is less than numer. With existing clocks, no product exceeds 64 bits
        // for centuries, and dividing a u64 is cheaper than dividing a u128.
        let (whole, rest) = (ticks / self.denom, ticks % self.denom);
        let part = match rest.checked_mul(numer) {
            Some(product) => product / self.denom,
            None => self.part_of_large(rest),
        };
        whole.saturating_mul(numer).saturating_add(part)
    }

    /// Returns `rest * numer / denom` for a `rest` below `denom`, where the product exceeds 64
    /// bits.
    #[cold]
    fn part_of_large(self, rest: u64) -> u64 {
        let product = u128::from(rest).saturating_mul(self.numer.get().into());
        let quotient = product / NonZeroU128::from(self.denom);
        u64::try_from(quotient).unwrap_or(u64::MAX)
    }
}
