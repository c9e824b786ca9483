//! Decides when to update metadata that may change without notice.

use std::time::{Duration, Instant};

/// The time between a thread's registration and the first update. It is short, because threads
/// often set their names when they begin.
const FIRST: Duration = Duration::from_millis(10);

/// The minimum time between two updates, as a multiple of an update's duration, so that updates
/// take only a small share of the drain's time.
const REST: u32 = 20;

/// The schedule of updates since the last thread was registered. The time between two updates
/// doubles, because updating many threads takes a long time.
#[derive(Debug)]
pub(super) struct Updates {
    last: Instant,
    interval: Duration,
    /// The minimum time between two updates.
    rest: Duration,
}

impl Updates {
    pub(super) fn new() -> Self {
        Self {
            last: Instant::now(),
            interval: FIRST,
            rest: FIRST,
        }
    }

    /// Makes the next updates due soon, because a thread was registered. Never postpones them;
    /// otherwise, a steady stream of new threads could prevent updates.
    pub(super) fn hurry(&mut self) {
        self.interval = self.rest;
    }

    /// Returns whether an update is due now. If so, the caller must perform it.
    pub(super) fn are_due(&mut self, now: Instant) -> bool {
        let is_due = now.saturating_duration_since(self.last) >= self.interval;
        if is_due {
            self.last = now;
            self.interval = self.interval.saturating_mul(2);
        }
        is_due
    }

    /// Records how long an update took.
    pub(super) fn took(&mut self, time: Duration) {
        self.rest = time.saturating_mul(REST).max(FIRST);
        self.interval = self.interval.max(self.rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_between_updates_doubles() {
        let mut updates = Updates::new();
        let start = updates.last;
        let due = (0..100).filter(|n| updates.are_due(start + *n * FIRST));
        assert_eq!(due.collect::<Vec<_>>(), [1, 3, 7, 15, 31, 63]);
    }

    #[test]
    fn threads_that_begin_constantly_do_not_postpone_updates_but_long_updates_are_rare() {
        for (time, expected) in [(FIRST / 20, [2, 4, 6]), (FIRST, [2, 42, 82])] {
            let mut updates = Updates::new();
            let start = updates.last;
            let is_due = |n: &u32| {
                updates.hurry();
                let is_due = updates.are_due(start + *n * FIRST / 2);
                if is_due {
                    updates.took(time);
                }
                is_due
            };
            let due = (1..100).filter(is_due).take(3);
            assert_eq!(due.collect::<Vec<_>>(), expected);
        }
    }
}
