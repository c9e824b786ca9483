//! Timestamps of some events, to find a time without looking all over the file.

use super::EventSlice;

/// An event's position and timestamp.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    pub(super) seq: u64,
    pub(super) time: u64,
}

/// The least distance of two sampled events: 32 KiB of the file.
const LEAST_STRIDE: u64 = 1024;
/// So many are kept at most, 1 MiB of them, which stays in a cache: events of a larger file are
/// sampled farther apart.
const MOST: u64 = 1 << 17;

/// The timestamp of every `stride`-th event, from the first one on.
#[derive(Debug, Clone)]
pub(super) struct SparseIndex {
    stride: u64,
    times: Vec<u64>,
}

impl SparseIndex {
    /// Of a file of so many events. Memory is taken as events are added.
    pub(super) fn new(event_count: u64) -> Self {
        let stride = event_count.div_ceil(MOST).max(LEAST_STRIDE);
        Self {
            stride,
            times: Vec::new(),
        }
    }

    /// Goes on with the next events, the first of which stands at `seq`.
    pub(super) fn add(&mut self, seq: u64, events: EventSlice<'_>) {
        let stride = usize::try_from(self.stride).unwrap_or(usize::MAX);
        let first = seq.next_multiple_of(self.stride).saturating_sub(seq);
        let positions =
            (usize::try_from(first).unwrap_or(usize::MAX)..events.len()).step_by(stride);
        let times = positions.filter_map(|position| events.timestamp_ns(position));
        self.times.extend(times);
    }

    /// Appends what was sampled behind these events.
    pub(super) fn append(&mut self, mut next: Self) {
        self.times.append(&mut next.times);
    }

    /// The last sampled event before `key` and the first one that is not, where the events are in
    /// order.
    pub(super) fn around(&self, key: u64) -> (Option<Known>, Option<Known>) {
        let after = self.times.partition_point(|time| *time < key);
        let known = |number: usize| {
            let seq = (number as u64).saturating_mul(self.stride);
            self.times
                .get(number)
                .map(|time| Known { seq, time: *time })
        };
        (after.checked_sub(1).and_then(known), known(after))
    }
}
