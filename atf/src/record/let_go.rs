//! Times of what a ring let go, in case a trigger asks for it afterwards.

use std::collections::VecDeque;

use crate::manifest::Loss;

/// The times of events, or details, that were let go.
#[derive(Debug)]
pub(super) struct LetGo {
    /// The latest, in order.
    times: VecDeque<u64>,
    limit: usize,
    /// Those before.
    older: Option<Loss>,
    last_ns: Option<u64>,
}

impl LetGo {
    /// Remembers this many one by one.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            times: VecDeque::new(),
            limit,
            older: None,
            last_ns: None,
        }
    }

    pub(super) fn add(&mut self, timestamp_ns: u64) {
        self.last_ns = Some(timestamp_ns);
        self.times.push_back(timestamp_ns);
        if self.times.len() > self.limit
            && let Some(oldest) = self.times.pop_front()
        {
            let older = self.older.get_or_insert(Loss::new(0, oldest, oldest));
            older.count = older.count.saturating_add(1);
            older.last_ns = oldest;
        }
    }

    /// Returns when the last one happened.
    pub(super) fn last_ns(&self) -> Option<u64> {
        self.last_ns
    }

    /// Removes those that happened from `start` to `end`, and returns how many they were. If it
    /// remembers some of that time only as a sum, it returns the sum.
    pub(super) fn claim(&mut self, start: u64, end: u64) -> Option<Loss> {
        let is_touched = |older: &Loss| older.first_ns <= end && older.last_ns >= start;
        let older = self.older.take_if(|older| is_touched(older));
        let from = self.times.partition_point(|time| *time < start);
        let to = self.times.partition_point(|time| *time <= end).max(from);
        let ends = self.times.get(from).zip(self.times.get(to.wrapping_sub(1)));
        let recent = ends
            .filter(|_| from < to)
            .map(|(first, last)| Loss::new(to.saturating_sub(from) as u64, *first, *last));
        self.times.drain(from..to);
        match (older, recent) {
            (Some(older), Some(recent)) => {
                let count = older.count.saturating_add(recent.count);
                Some(Loss::new(count, older.first_ns, recent.last_ns))
            }
            (older, recent) => older.or(recent),
        }
    }
}
