//! Stores the times of discarded events and details, in case a trigger requests them later.

use std::collections::VecDeque;

use atf::manifest::Loss;

/// The maximum number of separate runs of events or details (1.5 MiB).
const MOST_RUNS: usize = 1 << 16;

/// The maximum delay before a trigger is reported, in nanoseconds.
const LATE: u64 = 1_000_000_000;

/// The times of discarded events or details.
#[derive(Debug, Default)]
pub(super) struct LetGo {
    /// The most recent times, in order, grouped into runs.
    runs: VecDeque<Loss>,
    limit: usize,
    /// The number of timestamps in a new run: more than 1 only after the limit has been exceeded.
    each: u64,
    /// Older times, merged into one entry. Only a trigger that is reported late can request them.
    older: Option<Loss>,
    /// The time of the last discard.
    pub(super) last_ns: Option<u64>,
}

impl LetGo {
    /// Creates a record that keeps up to `limit` times individually and, beyond that, groups them
    /// into runs.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit: limit.clamp(1, MOST_RUNS),
            each: 1,
            ..Self::default()
        }
    }

    /// Returns the maximum memory size in bytes of a record with this limit.
    pub(super) fn most_size(limit: usize) -> usize {
        let runs = limit.min(MOST_RUNS);
        runs.saturating_mul(size_of::<Loss>())
    }

    pub(super) fn add(&mut self, timestamp_ns: u64) {
        self.last_ns = Some(timestamp_ns);
        let one = Loss::new(1, timestamp_ns, timestamp_ns);
        match self.runs.back_mut() {
            Some(last) if last.count < self.each => *last = last.plus(one),
            _ => self.add_run(one),
        }
        if self.runs.len() > self.limit {
            self.join_pairs();
        }
    }

    fn add_run(&mut self, run: Loss) {
        if self.runs.try_reserve(1).is_err() {
            self.join_pairs();
        }
        if self.runs.len() < self.runs.capacity() {
            self.runs.push_back(run);
        } else {
            self.older = self.older.into_iter().chain([run]).reduce(Loss::plus);
        }
    }

    /// Halves the number of runs. Does not allocate, because there may be no memory left.
    fn join_pairs(&mut self) {
        let count = self.runs.len().div_ceil(2);
        for place in 0..count {
            let first = place.saturating_mul(2);
            let pair = self.runs.range(first..).take(2).copied();
            if let (Some(joined), Some(run)) = (pair.reduce(Loss::plus), self.runs.get_mut(place)) {
                *run = joined;
            }
        }
        self.runs.truncate(count);
        self.each = self.each.saturating_mul(2);
    }

    /// Frees unused memory, because no more times will be added.
    pub(super) fn compact(&mut self) {
        self.runs.shrink_to_fit();
    }

    pub(super) fn size(&self) -> usize {
        self.runs.capacity().saturating_mul(size_of::<Loss>())
    }

    /// Merges all times before `before_ns` into one entry, because no trigger that is reported in
    /// time can request them.
    pub(super) fn forget(&mut self, before_ns: u64) {
        let before = before_ns.saturating_sub(LATE);
        let forgotten = self.runs.partition_point(|run| run.last_ns < before);
        let forgotten = self.runs.drain(..forgotten);
        self.older = self.older.into_iter().chain(forgotten).reduce(Loss::plus);
        if self.runs.len() <= self.limit / 4 {
            self.each = (self.each / 2).max(1);
        }
    }

    /// Removes the times from `start` to `end`, and returns them as one entry. If only part of a
    /// run is in this range, the whole run is included.
    pub(super) fn claim(&mut self, start: u64, end: u64) -> Option<Loss> {
        let is_touched = |older: &mut Loss| older.first_ns <= end && older.last_ns >= start;
        let older = self.older.take_if(is_touched);
        let from = self.runs.partition_point(|run| run.last_ns < start);
        let to = self.runs.partition_point(|run| run.first_ns <= end);
        let claimed = self.runs.drain(from..to.max(from));
        older.into_iter().chain(claimed).reduce(Loss::plus)
    }

    /// Removes all times, and returns those of the last `count` events as one entry.
    pub(super) fn claim_last(&mut self, count: u64) -> Option<Loss> {
        let mut left = count;
        let all = self.older.take().into_iter().chain(self.runs.drain(..));
        let claimed = all.rev().map_while(|run| {
            let part = run.count.min(left);
            left = left.saturating_sub(part);
            (part > 0).then(|| Loss::new(part, run.first_ns, run.last_ns))
        });
        claimed.reduce(Loss::plus)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_exact_and_their_times_extend_little_beyond_the_claimed_range() {
        for (events, limit) in [(100, 100), (100_000, 100), (100_003, 64), (1_000, 1)] {
            let mut let_go = LetGo::new(limit);
            (0..events).for_each(|n| let_go.add(10 * n));
            let (start, end) = (299, 10 * events - 301);
            let found = let_go.claim(start, end).map(|loss| {
                assert_eq!((loss.last_ns - loss.first_ns) / 10 + 1, loss.count);
                assert!(loss.first_ns <= 300 && loss.last_ns + 10 > end);
                loss.count
            });
            let asked_for = events - 60;
            let most = 4 * events / limit as u64;
            assert!(
                found.is_some_and(|found| (asked_for..=asked_for + most).contains(&found)),
                "{found:?} of {asked_for}, at most {most} too many"
            );
            assert!(events > 100 || found == Some(asked_for));
        }
    }

    #[test]
    fn forgotten_times_are_claimed_only_as_a_sum_and_only_by_late_triggers() {
        let second = 1_000_000_000;
        let mut let_go = LetGo::new(10);
        (0..1000).for_each(|n| let_go.add(n));
        // After a few passes, there is enough room again to keep each time individually.
        (0..10).for_each(|_| let_go.forget(5 * second));
        (0..5).for_each(|n| let_go.add(9 * second + n));
        let_go.forget(9 * second);
        // A trigger may still be reported late.
        let claimed = let_go.claim(8 * second, 9 * second + 1);
        assert_eq!(claimed.map(|loss| loss.count), Some(2));
        let_go.forget(11 * second);
        assert_eq!(let_go.claim(10 * second, u64::MAX), None);
        let sum = Loss::new(1003, 0, 9 * second + 4);
        assert_eq!(let_go.claim(9 * second, u64::MAX), Some(sum));
    }
}
