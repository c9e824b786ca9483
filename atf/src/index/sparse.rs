//! Sampled timestamps, which narrow down the search for a time.

use super::EventSlice;

#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    pub(super) seq: u64,
    pub(super) time: u64,
}

impl Known {
    pub(super) const fn new(seq: u64, time: u64) -> Self {
        Self { seq, time }
    }
}

/// The minimum distance between sampled events, in events: 32 KiB of the file.
const LEAST_STRIDE: u64 = 1024;
/// The maximum number of samples. They take 1 MiB, which fits into a cache. In larger files,
/// samples are farther apart.
const MOST: u64 = 1 << 17;

/// The timestamp of every `stride`-th event, starting with the first.
#[derive(Debug, Clone)]
pub(super) struct SparseIndex {
    stride: u64,
    times: Vec<u64>,
}

impl SparseIndex {
    /// Creates an index for a file of `event_count` events. Memory is allocated as events are
    /// added.
    pub(super) fn new(event_count: u64) -> Self {
        let stride = event_count.div_ceil(MOST).max(LEAST_STRIDE);
        Self {
            stride,
            times: Vec::new(),
        }
    }

    /// Adds the next events, which begin with event `seq`.
    pub(super) fn add(&mut self, seq: u64, events: EventSlice<'_>) {
        let stride = usize::try_from(self.stride).unwrap_or(usize::MAX);
        let first = seq.next_multiple_of(self.stride).saturating_sub(seq);
        let positions =
            (usize::try_from(first).unwrap_or(usize::MAX)..events.len()).step_by(stride);
        let times = positions.filter_map(|position| events.timestamp_ns(position));
        self.times.extend(times);
    }

    /// Appends the samples of the next events.
    pub(super) fn append(&mut self, mut next: Self) {
        self.times.append(&mut next.times);
    }

    /// Returns the last sample before `key` and the first one at or after it. The events must be in
    /// order.
    pub(super) fn around(&self, key: u64) -> (Option<Known>, Option<Known>) {
        let after = self.times.partition_point(|time| *time < key);
        let known = |number: usize| {
            let seq = (number as u64).saturating_mul(self.stride);
            self.times.get(number).map(|time| Known::new(seq, *time))
        };
        (after.checked_sub(1).and_then(known), known(after))
    }
}
