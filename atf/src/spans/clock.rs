//! The time of a thread's events, which never decreases.

/// A thread's clock, which corrects the times of its events before they are paired: where timestamps
/// decrease, it stops until they catch up, and a single timestamp that is too large is
/// replaced by the next event's.
///
/// ```
/// use atf::spans::ThreadClock;
///
/// let times = [100, 120, 90, 130, u64::MAX, 140];
/// let mut clock = ThreadClock::default();
/// let next = times.iter().skip(1).copied().map(Some).chain([None]);
/// let corrected = times.iter().zip(next).map(|(time, next)| clock.advance(*time, next));
/// assert!(corrected.eq([100, 120, 120, 130, 140, 140]));
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct ThreadClock {
    now_ns: Option<u64>,
}

impl ThreadClock {
    /// Returns the time of the latest event so far; `None` before the first event.
    #[must_use]
    pub fn now_ns(&self) -> Option<u64> {
        self.now_ns
    }

    /// Advances to an event, and returns its time: at least the previous event's, and at most the
    /// next one's if that is not 0 and not earlier than the previous event's. Therefore, a single
    /// wrong timestamp, however large, does not affect other events. `next_ns` is `None` after a
    /// file's last event.
    pub fn advance(&mut self, timestamp_ns: u64, next_ns: Option<u64>) -> u64 {
        let before_ns = self.now_ns.unwrap_or_default();
        let most_ns = next_ns.filter(|next_ns| *next_ns > 0 && *next_ns >= before_ns);
        let now_ns = timestamp_ns.min(most_ns.unwrap_or(u64::MAX)).max(before_ns);
        self.now_ns = Some(now_ns);
        now_ns
    }
}
