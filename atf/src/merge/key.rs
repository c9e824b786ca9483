//! Sort keys of sources, made from a time and a number.

use std::hint::select_unpredictable;

/// A source's next time and its number in one integer, so that a comparison takes one instruction
/// and no two keys are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key(u64);

impl Key {
    /// The key of a source without an event near the base: greater than every other key.
    pub(super) const END: Self = Self(u64::MAX);

    /// Returns the lesser and the greater key, without a branch.
    #[inline]
    pub(super) fn sort(a: Self, b: Self) -> (Self, Self) {
        let is_first = a < b;
        (
            select_unpredictable(is_first, a, b),
            select_unpredictable(is_first, b, a),
        )
    }
}

/// A packing of keys, with the time since `base` in the upper bits and the source's number in the
/// lower ones.
///
/// A time too far from `base` to fit in the upper bits has the key [`END`](Key::END). The source
/// waits until every source has that key; then the base moves. Only the current source can have a
/// time before `base`, and only if its times decrease. Its key is then packed as if its time were
/// `base`. That is still the least key: it was this source's turn, so no source with a lower number
/// is at `base`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Packing {
    base: u64,
    rank_bits: u32,
    /// A mask of the bits that contain the source's number.
    mask: u64,
    /// The largest time since the base that fits in a key.
    farthest: u64,
}

impl Packing {
    /// Creates a packing for this many sources, which start at `first` or later.
    pub(super) fn new(sources: usize, first: u64) -> Self {
        // The number with all bits set belongs to no source.
        let rank_bits = usize::BITS.wrapping_sub(sources.leading_zeros());
        Self {
            base: first,
            rank_bits,
            mask: !u64::MAX.wrapping_shl(rank_bits),
            farthest: u64::MAX.wrapping_shr(rank_bits),
        }
    }

    #[inline(always)]
    pub(super) fn key(self, timestamp_ns: u64, rank: usize) -> Key {
        match timestamp_ns.checked_sub(self.base) {
            Some(since) if since <= self.farthest => {
                Key(since.wrapping_shl(self.rank_bits) | rank as u64)
            }
            _ => self.key_outside(timestamp_ns, rank),
        }
    }

    #[cold]
    fn key_outside(self, timestamp_ns: u64, rank: usize) -> Key {
        if timestamp_ns < self.base {
            return Key(rank as u64);
        }
        Key::END
    }

    /// Returns the source's number; for [`END`](Key::END), a number that no source has.
    #[inline(always)]
    pub(super) fn rank(self, key: Key) -> usize {
        usize::try_from(key.0 & self.mask).unwrap_or(usize::MAX)
    }

    /// Returns the key of source `rank` at its next time, or [`END`](Key::END) if there is no next
    /// time.
    pub(super) fn key_or_end(self, timestamp_ns: Option<u64>, rank: usize) -> Key {
        timestamp_ns.map_or(Key::END, |time| self.key(time, rank))
    }

    /// Returns the largest time at which source `rank` comes before this key. The key must not be
    /// that of a lower-ranked source at time 0.
    pub(super) fn last_before(self, rank: usize, key: Key) -> u64 {
        let since = key.0.wrapping_shr(self.rank_bits);
        let time = self.base.saturating_add(since);
        if rank < self.rank(key) {
            time
        } else {
            time.saturating_sub(1)
        }
    }
}
