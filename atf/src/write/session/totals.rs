//! Totals over a session's threads.

/// Totals over a session's threads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionTotals {
    /// The number of threads written so far.
    pub threads: u64,
    /// The number of finalized threads.
    pub finalized: u64,
    /// The number of index events in finalized threads.
    pub event_count: u64,
    /// The number of detail events in finalized threads.
    pub detail_count: u64,
    /// The number of reserved details of finalized threads that are not in their files.
    pub dropped_details: u64,
    /// The earliest and the latest timestamp in nanoseconds, over finalized threads with events.
    pub time_range: Option<(u64, u64)>,
}

impl SessionTotals {
    /// Adds another session's totals. A thread that is in both sessions counts twice.
    #[doc(hidden)]
    pub fn add(&mut self, other: &Self) {
        self.threads = self.threads.saturating_add(other.threads);
        self.finalized = self.finalized.saturating_add(other.finalized);
        self.event_count = self.event_count.saturating_add(other.event_count);
        self.detail_count = self.detail_count.saturating_add(other.detail_count);
        self.dropped_details = self.dropped_details.saturating_add(other.dropped_details);
        let ranges = self.time_range.into_iter().chain(other.time_range);
        self.time_range = ranges.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)));
    }
}
