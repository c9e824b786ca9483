//! A histogram of durations. The minimum and maximum are exact; other quantiles are off by at most
//! 1.6 %, unless the histogram was coarsened to save memory.

/// There are `1 << BITS` buckets per power of two.
const BITS: u32 = 5;
const BUCKETS: u64 = 1 << BITS;
/// The number of bits that store a bucket's count.
const COUNT_BITS: u32 = 53;
const MOST: u64 = (1 << COUNT_BITS) - 1;
/// The number of the last bucket.
const LAST: u64 = bucket_of(u64::MAX);
/// The coarseness at which a single bucket contains all durations.
pub(crate) const COARSEST: u32 = u64::BITS - LAST.leading_zeros();

/// The durations of a function's calls.
///
/// The minimum and the maximum are exact. Any other [quantile](Self::quantile_ns) is at most 1/64
/// (1.6 %) away from the exact one: each power of two is divided into 32 equal buckets, and a
/// quantile is the middle of its bucket. Quantiles below 64 ns are exact.
///
/// To stay within [`max_buckets`](crate::Options::max_buckets), the histograms of all functions may
/// be [coarsened](crate::Functions::coarseness) n times. Each bucket then spans 2ⁿ of the buckets
/// described here, and a quantile may be 2ⁿ times as far from the exact one.
///
/// Memory: 8 bytes per bucket in use, at most 15 KiB. No memory is allocated while all durations
/// are equal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Durations {
    count: u64,
    min_ns: u64,
    max_ns: u64,
    /// The buckets by ascending duration; empty while all durations are equal. Each entry packs a
    /// bucket's number into the upper bits and its count into the lower [`COUNT_BITS`]. Most
    /// functions have few calls, so they need little memory.
    buckets: Vec<u64>,
    /// The binary logarithm of the number of full-resolution buckets that each of these buckets
    /// spans.
    coarseness: u32,
}

/// A part of a histogram, from [`Durations::buckets`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bucket {
    /// The shortest duration that the bucket counts, in nanoseconds.
    pub from_ns: u64,
    /// The longest duration that the bucket counts, in nanoseconds.
    pub to_ns: u64,
    /// How many durations the bucket counts; at least 1.
    pub count: u64,
}

impl Durations {
    /// Returns the number of durations.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the shortest duration in nanoseconds, or `None` if there are no durations.
    #[must_use]
    pub fn min_ns(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min_ns)
    }

    /// Returns the longest duration in nanoseconds, or `None` if there are no durations.
    #[must_use]
    pub fn max_ns(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max_ns)
    }

    /// Returns the duration in nanoseconds that `permille` thousandths of the calls do not exceed:
    /// 500 for the median, 990 for the 99th percentile. Returns `None` if there are no durations.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let folder = folder.path();
    /// # let mut writer = atf::write::ThreadWriter::create(folder, 0, &Default::default())?;
    /// # let mut now = 0;
    /// # for (wait, kind) in (1..=100).flat_map(|ns| [(0, atf::EventKind::CALL), (ns, atf::EventKind::RETURN)]) {
    /// #     now += wait;
    /// #     writer.write(&atf::write::Event::new(now, 7, kind, 1))?;
    /// # }
    /// # writer.finalize()?;
    /// // One function, 100 calls: 1 ns, 2 ns, … 100 ns.
    /// let thread = atf::trace::Process::of_thread(folder)?;
    /// let functions = atf_analyze::functions(&thread, &Default::default());
    /// let durations = &functions.functions[0].durations;
    /// assert_eq!(durations.quantile_ns(500), Some(50));
    /// assert_eq!(durations.quantile_ns(990), Some(98), "the exact one is 99");
    /// assert_eq!(durations.max_ns(), Some(100));
    /// # Ok::<(), atf::Error>(())
    /// ```
    #[must_use]
    pub fn quantile_ns(&self, permille: u32) -> Option<u64> {
        let wanted = u128::from(self.count).saturating_mul(permille.into());
        let rank = wanted.div_ceil(1000).max(1);
        let mut seen = 0_u128;
        let bucket = self.buckets().find(|bucket| {
            seen = seen.saturating_add(bucket.count.into());
            seen >= rank
        });
        // If counts have saturated, their sum is less than the number of durations.
        let Some(Bucket { from_ns, to_ns, .. }) = bucket else {
            return self.max_ns();
        };
        let middle = from_ns.midpoint(to_ns);
        Some(middle.clamp(self.min_ns, self.max_ns))
    }

    /// Returns the histogram: the buckets that count at least one duration, by ascending duration.
    /// Their limits are the same in every trace, unless it is
    /// [coarsened](crate::Functions::coarseness), so histograms can be compared and added.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> {
        let is_equal = self.buckets.is_empty() && self.count > 0;
        let all_equal = is_equal.then(|| (self.bucket(self.min_ns), self.count));
        let counts = self.buckets.iter().map(|packed| unpack(*packed));
        all_equal.into_iter().chain(counts).map(|(bucket, count)| {
            let first = bucket.wrapping_shl(self.coarseness);
            let after = bucket.wrapping_add(1).wrapping_shl(self.coarseness);
            let last = after.wrapping_sub(1).min(LAST);
            let ((from_ns, _), (_, to_ns)) = (limits(first), limits(last));
            Bucket {
                from_ns,
                to_ns,
                count,
            }
        })
    }

    /// Adds a duration, and returns the number of new buckets.
    pub(crate) fn add(&mut self, ns: u64) -> usize {
        self.add_times(ns, 1)
    }

    /// Adds all durations of another function or thread, whose coarseness is at most `coarseness`.
    /// Returns the number of new buckets.
    pub(crate) fn merge(&mut self, other: &Self, coarseness: u32) -> usize {
        let before = self.buckets.len();
        self.coarsen(coarseness);
        if other.buckets.is_empty() {
            if other.count > 0 {
                self.add_times(other.min_ns, other.count);
            }
        } else {
            self.spread();
            for packed in &other.buckets {
                let (bucket, count) = unpack(*packed);
                let finer = coarseness.saturating_sub(other.coarseness);
                self.count_in(bucket.wrapping_shr(finer), count);
            }
            self.widen(other.min_ns, other.max_ns, other.count);
        }
        self.buckets.len().saturating_sub(before)
    }

    /// Merges neighbouring buckets up to a coarseness, and returns the number of buckets.
    pub(crate) fn coarsen(&mut self, coarseness: u32) -> usize {
        let finer = coarseness.saturating_sub(self.coarseness);
        if finer > 0 {
            self.coarseness = coarseness;
            let buckets = std::mem::take(&mut self.buckets);
            for packed in buckets {
                let (bucket, count) = unpack(packed);
                self.count_in(bucket.wrapping_shr(finer), count);
            }
        }
        self.buckets.len()
    }

    fn add_times(&mut self, ns: u64, times: u64) -> usize {
        let before = self.buckets.len();
        let is_equal = self.count == 0 || (self.min_ns == ns && self.max_ns == ns);
        if !self.buckets.is_empty() || !is_equal {
            self.spread();
            self.count_in(self.bucket(ns), times);
        }
        self.widen(ns, ns, times);
        self.buckets.len().saturating_sub(before)
    }

    /// Returns the number of a duration's bucket in this histogram.
    fn bucket(&self, ns: u64) -> u64 {
        bucket_of(ns).wrapping_shr(self.coarseness)
    }

    /// Creates the bucket that counts all durations so far, if they have all been equal.
    fn spread(&mut self) {
        if self.buckets.is_empty() && self.count > 0 {
            self.count_in(self.bucket(self.min_ns), self.count);
        }
    }

    fn count_in(&mut self, bucket: u64, times: u64) {
        let at = self.buckets.partition_point(|it| unpack(*it).0 < bucket);
        match self.buckets.get_mut(at) {
            Some(packed) if unpack(*packed).0 == bucket => {
                let (_, count) = unpack(*packed);
                *packed = pack(bucket, count.saturating_add(times));
            }
            _ => self.buckets.insert(at, pack(bucket, times)),
        }
    }

    fn widen(&mut self, min_ns: u64, max_ns: u64, times: u64) {
        self.min_ns = if self.count == 0 {
            min_ns
        } else {
            self.min_ns.min(min_ns)
        };
        self.max_ns = self.max_ns.max(max_ns);
        self.count = self.count.saturating_add(times);
    }
}

fn pack(bucket: u64, count: u64) -> u64 {
    bucket.wrapping_shl(COUNT_BITS) | count.min(MOST)
}

/// Returns a bucket's number and its count.
const fn unpack(packed: u64) -> (u64, u64) {
    (packed.wrapping_shr(COUNT_BITS), packed & MOST)
}

/// Returns the number of a duration's bucket. Below 32 ns, it is the duration itself; above that,
/// there are 32 buckets per power of two.
const fn bucket_of(ns: u64) -> u64 {
    let Some(log) = ns.checked_ilog2() else {
        return ns;
    };
    let Some(shift) = log.checked_sub(BITS) else {
        return ns;
    };
    let power = (shift as u64).saturating_add(1);
    power.wrapping_shl(BITS) | (ns.wrapping_shr(shift) & (BUCKETS - 1))
}

/// Returns the shortest and the longest duration in a bucket.
fn limits(bucket: u64) -> (u64, u64) {
    let shift = u32::try_from(bucket.wrapping_shr(BITS)).ok();
    let Some(shift) = shift.and_then(|power| power.checked_sub(1)) else {
        return (bucket, bucket);
    };
    let low = (BUCKETS | (bucket & (BUCKETS - 1))).wrapping_shl(shift);
    let width = 1_u64.wrapping_shl(shift);
    (low, low.saturating_add(width.saturating_sub(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_duration_is_at_most_a_64th_from_the_middle_of_its_bucket() {
        let powers = (0..64).map(|power| 1_u64 << power);
        let near = powers.flat_map(|power| {
            (0..40).flat_map(move |step| {
                let apart = step * (power / 37).max(1);
                [power.saturating_add(apart), power.saturating_sub(apart)]
            })
        });
        for ns in near.chain([0, u64::MAX]) {
            let (from_ns, to_ns) = limits(bucket_of(ns));
            assert!((from_ns..=to_ns).contains(&ns), "{ns} {from_ns} {to_ns}");
            let middle = from_ns.midpoint(to_ns);
            assert!(middle.abs_diff(ns) <= ns / 64, "{ns} {middle}");
            assert!(ns >= 64 || middle == ns, "{ns} {middle}");
        }
        assert_eq!(bucket_of(u64::MAX), 59 * 32 + 31);
    }

    #[test]
    fn equal_durations_need_no_buckets() {
        let mut all = Durations::default();
        let mut part = Durations::default();
        for _ in 0..5 {
            part.add(1_000_003);
        }
        all.merge(&part, 0);
        assert!(all.buckets.is_empty());
        assert_eq!(all.quantile_ns(500), Some(1_000_003));
        all.add(7);
        all.merge(&part, 0);
        assert_eq!((all.count(), all.buckets.len()), (11, 2));
        let quantile = |permille| all.quantile_ns(permille);
        assert_eq!([0, 90].map(quantile), [Some(7); 2]);
        for ns in [91, 500, 1000].map(quantile) {
            let is_near = |ns: u64| ns.abs_diff(1_000_003) <= 1_000_003 / 64;
            assert!(ns.is_some_and(is_near), "{ns:?}");
        }
        assert_eq!((all.min_ns(), all.max_ns()), (Some(7), Some(1_000_003)));
        assert_eq!(Durations::default().quantile_ns(500), None);
    }

    #[test]
    fn coarser_buckets_count_the_same_durations() {
        let (mut fine, mut all) = (Durations::default(), Durations::default());
        let values: Vec<u64> = (0..64)
            .flat_map(|power| [1 << power, (3 << power) / 2])
            .collect();
        for ns in &values {
            fine.add(*ns);
        }
        let mut before = all.merge(&fine, 0);
        assert_eq!(before, fine.buckets.len());
        for coarseness in 1..=COARSEST {
            let count = all.coarsen(coarseness);
            assert!(count < before || count == 1, "{count} of {before}");
            before = count;
            // Adding the same durations again adds no buckets.
            assert_eq!(all.merge(&fine, coarseness), 0);
            for bucket in all.buckets() {
                let within = |ns: &&u64| (bucket.from_ns..=bucket.to_ns).contains(*ns);
                let expected = values.iter().filter(within).count() as u64;
                assert_eq!(
                    bucket.count,
                    expected * u64::from(coarseness + 1),
                    "{bucket:?}"
                );
                // A quantile is the middle of a bucket.
                let half = (bucket.to_ns - bucket.from_ns).div_ceil(2);
                let is_near = half <= (bucket.from_ns >> 6) << coarseness;
                assert!(
                    is_near || coarseness > BITS || bucket.from_ns < 64,
                    "{bucket:?}"
                );
            }
        }
        assert_eq!(before, 1, "the coarsest histogram has one bucket");
    }

    #[test]
    fn a_saturated_count_stays_in_its_bucket() {
        let mut durations = Durations::default();
        durations.add(1);
        durations.add_times(2_000, MOST);
        durations.add_times(2_000, 5);
        let found: Vec<_> = durations.buckets().map(|it| it.count).collect();
        assert_eq!(found, [1, MOST]);
    }

    #[test]
    fn the_histogram_counts_each_duration_in_the_bucket_around_it() {
        let mut durations = Durations::default();
        assert_eq!(durations.buckets().next(), None);
        let found = |durations: &Durations| {
            let buckets = durations.buckets();
            buckets
                .map(|it| (it.from_ns, it.to_ns, it.count))
                .collect::<Vec<_>>()
        };
        durations.add(1_001);
        durations.add(1_001);
        assert_eq!(found(&durations), [(992, 1_007, 2)]);
        for ns in [7, 1_008, u64::MAX] {
            durations.add(ns);
        }
        let last = (63 << 58, u64::MAX, 1);
        let expected = [(7, 7, 1), (992, 1_007, 2), (1_008, 1_023, 1), last];
        assert_eq!(found(&durations), expected);
    }
}
