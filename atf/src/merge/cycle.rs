//! Recognizes threads that take turns in a fixed order.

use super::key::Key;

/// Threads that take turns in a fixed order: each has had two turns, the second ones in the same
/// order as the first.
///
/// While that order holds, each turn needs one check instead of a tournament. It holds as long as
/// the event after each thread's next event comes after the next events of all threads in the
/// cycle, and before those of all other threads.
#[derive(Debug)]
pub(super) struct Cycle {
    /// The keys of the threads' next events, ascending from `first` and wrapping around at the end.
    keys: Vec<Key>,
    first: usize,
    greatest: Key,
    /// The least key of the threads outside the cycle.
    limit: Key,
}

impl Cycle {
    /// Creates a cycle from the keys of its threads in order, and the keys of all threads. Returns
    /// `None` if the cycle's keys do not ascend or are not the least keys.
    pub(super) fn new(keys: Vec<Key>, all: impl Iterator<Item = Key>) -> Option<Self> {
        let greatest = *keys.last()?;
        let (mut count, mut limit) = (0_usize, Key::END);
        for key in all {
            if key > greatest {
                limit = limit.min(key);
            } else {
                count = count.saturating_add(1);
            }
        }
        let are_least = count == keys.len() && greatest < limit;
        (are_least && keys.is_sorted_by(|a, b| a < b)).then_some(Self {
            keys,
            first: 0,
            greatest,
            limit,
        })
    }

    /// Sets the next key of the thread that has the least key, and returns the new least key;
    /// `None` if the order changes.
    #[inline(always)]
    pub(super) fn replay(&mut self, key: Key) -> Option<Key> {
        if key <= self.greatest || key >= self.limit {
            return None;
        }
        *self.keys.get_mut(self.first)? = key;
        self.greatest = key;
        self.first = self.first.wrapping_add(1);
        if self.first >= self.keys.len() {
            self.first = 0;
        }
        self.keys.get(self.first).copied()
    }
}
