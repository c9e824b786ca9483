//! The time of a thread's events, which never decreases.

/// The time of the latest event so far.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ThreadClock {
    now_ns: Option<u64>,
}

impl ThreadClock {
    /// Returns the time; `None` before the first event.
    pub(crate) fn now_ns(&self) -> Option<u64> {
        self.now_ns
    }

    /// Advances to an event, and returns its time: at least the previous event's, and at most the
    /// next one's if that is not 0 and not earlier than the previous event's. So a single wrong
    /// timestamp, however great, does not affect other events.
    pub(crate) fn advance(&mut self, timestamp_ns: u64, next_ns: Option<u64>) -> u64 {
        let before_ns = self.now_ns.unwrap_or_default();
        let most_ns = next_ns.filter(|next_ns| *next_ns > 0 && *next_ns >= before_ns);
        let now_ns = timestamp_ns.min(most_ns.unwrap_or(u64::MAX)).max(before_ns);
        self.now_ns = Some(now_ns);
        now_ns
    }
}
