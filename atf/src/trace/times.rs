//! Corrects the times of a file's first and last event, and converts times to a recording's clock.

use crate::clock::MediaClock;
use crate::index::{IndexFooter, IndexReader};
use crate::spans::ThreadClock;

/// Converts a timestamp to the clock of a recording, if there is one.
#[inline]
pub(super) fn on_clock(clock: Option<&MediaClock>, timestamp_ns: u64) -> u64 {
    match clock {
        Some(clock) => clock.to_media_ns_or_zero(timestamp_ns),
        None => timestamp_ns,
    }
}

impl IndexReader {
    /// Returns the times on which the header and the footer agree, in nanoseconds. If the first or the
    /// last event has a different time, it changed after it was written.
    #[must_use]
    pub fn stated_time_range(&self) -> Option<(u64, u64)> {
        let (header, footer) = (self.header(), self.footer()?);
        let stated = (footer.time_start_ns, footer.time_end_ns);
        let is_sound = 0 < stated.0 && stated.0 <= stated.1;
        let is_agreed = (header.time_start_ns, header.time_end_ns) == stated;
        (is_sound && is_agreed).then_some(stated)
    }

    /// Returns the times of the first and the last event in nanoseconds, corrected like those of a
    /// [`ThreadClock`], as far as these two events, the second event and the [stated
    /// times](Self::stated_time_range) allow. The time of an event in a hole is taken from the footer;
    /// without a footer, events in a hole at the start are skipped. Returns `None` if there are no events or they cannot be read.
    #[must_use]
    pub fn corrected_time_range(&self) -> Option<(u64, u64)> {
        let (first_ns, last_ns) = self.time_range().ok()??;
        if first_ns > 0 && last_ns > 0 {
            let (start_ns, end_ns) = self.stated_time_range().unzip();
            let start_ns = start_ns.filter(|start_ns| *start_ns != first_ns);
            let next = self.get(1).ok()?.filter(|_| start_ns.is_none());
            let next_ns = next.map(|next| next.timestamp_ns);
            let mut clock = ThreadClock::default();
            let first_ns = clock.advance(start_ns.unwrap_or(first_ns), next_ns);
            let last_ns = match self.event_count() {
                1 => first_ns,
                _ => clock.advance(end_ns.unwrap_or(last_ns), None),
            };
            return Some((first_ns, last_ns));
        }
        let footer = self.footer();
        let time = |time_ns: u64, of: fn(&IndexFooter) -> u64| match footer {
            Some(footer) if time_ns == 0 => of(footer),
            _ => time_ns,
        };
        let first_ns = if first_ns == 0 && footer.is_none() {
            let mut written = self.events().map_while(Result::ok);
            let written = written.find(|event| !event.is_zero());
            written.map_or(0, |event| event.timestamp_ns)
        } else {
            first_ns
        };
        Some((
            time(first_ns, |footer| footer.time_start_ns),
            time(last_ns, |footer| footer.time_end_ns),
        ))
    }
}
