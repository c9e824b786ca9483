//! Decides when metadata that changes without notice is updated.

use std::time::{Duration, Instant};

/// How soon after a thread is registered the first update is due: threads often set their names
/// when they begin.
const FIRST: Duration = Duration::from_millis(10);

/// The updates since the last thread was registered. The time between them doubles, because an
/// update of many threads takes long.
#[derive(Debug)]
pub(super) struct Updates {
    last: Instant,
    interval: Duration,
}

impl Updates {
    pub(super) fn new() -> Self {
        Self {
            last: Instant::now(),
            interval: FIRST,
        }
    }

    /// Makes the next updates due soon, because a thread was registered. Does not put them off, so
    /// that threads that begin one after the other cannot prevent them.
    pub(super) fn hurry(&mut self) {
        self.interval = FIRST;
    }

    /// Returns whether an update is due now, in which case the caller does it.
    pub(super) fn are_due(&mut self, now: Instant) -> bool {
        let is_due = now.saturating_duration_since(self.last) >= self.interval;
        if is_due {
            self.last = now;
            self.interval = self.interval.saturating_mul(2);
        }
        is_due
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
    fn new_threads_do_not_put_off_updates() {
        let mut updates = Updates::new();
        let start = updates.last;
        let is_due = |n: &u32| {
            updates.hurry();
            updates.are_due(start + *n * FIRST / 2)
        };
        assert_eq!((1..=6).filter(is_due).collect::<Vec<_>>(), [2, 4, 6]);
    }
}
