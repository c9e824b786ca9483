//! Converts timestamps to a recording's time, using several anchors.

use std::error::Error;
use std::fmt;
use std::ops::RangeInclusive;

use super::anchor::{NS_PER_SECOND, TimingAnchor, positive};

/// A converter from a session's timestamps to the time of a sound or screen recording in
/// nanoseconds, based on the session's [anchors](TimingAnchor).
///
/// Between two anchors, the recording's time runs at the rate that they imply. Before the first
/// anchor and after the last, it runs at the rate of the trace's clock.
///
/// ```
/// use atf::clock::{MediaClock, MediaTime, TimingAnchor};
///
/// // The recording's clock runs a tenth faster.
/// let anchors = [
///     TimingAnchor::new(1_000, MediaTime::new(0, 1_000_000_000)),
///     TimingAnchor::new(2_000, MediaTime::new(1_100, 1_000_000_000)),
/// ];
/// let clock = MediaClock::new(&anchors).unwrap();
/// assert_eq!(clock.to_media_ns(1_500), Some(550));
/// assert_eq!(clock.to_media_ns(2_010), Some(1_110));
/// assert_eq!(clock.to_media_ns(999), None, "before the recording");
/// assert_eq!(clock.to_host_ns(550), 1_500);
/// assert_eq!(clock.to_host_range(550..=560), Some(1_500..=1_509));
/// ```
#[derive(Debug, Clone)]
pub struct MediaClock {
    timescale: i32,
    /// Host and media times in nanoseconds, both ascending; at least one pair.
    points: Vec<(i128, i128)>,
}

impl MediaClock {
    /// Creates the clock from anchors.
    ///
    /// # Errors
    ///
    /// If there is no anchor, if timescales differ or are not positive, or if the recording's time
    /// does not advance from one anchor to the next. In the last case, the anchors are from
    /// different recordings.
    pub fn new(anchors: &[TimingAnchor]) -> Result<Self, MediaClockError> {
        let first = anchors.first().ok_or(MediaClockError::NoAnchors)?;
        let timescale = first.media_time.timescale;
        for anchor in anchors {
            check_timescales(timescale, anchor.media_time.timescale)?;
        }
        let point = |anchor: &TimingAnchor| {
            let scale = positive(anchor.media_time.timescale)?;
            let parts = i128::from(anchor.media_time.value).checked_mul(NS_PER_SECOND)?;
            Some((i128::from(anchor.host_time_ns), parts.checked_div(scale)?))
        };
        let points = anchors.iter().map(point).collect::<Option<Vec<_>>>();
        let mut points = points.ok_or(MediaClockError::NotOneRecording)?;
        points.sort_unstable();
        points.dedup();
        let advances = |pair: &[(i128, i128)]| matches!(pair, [before, after] if before.0 < after.0 && before.1 < after.1);
        let is_one_recording = points.windows(2).all(advances);
        let clock = is_one_recording.then_some(Self { timescale, points });
        clock.ok_or(MediaClockError::NotOneRecording)
    }

    /// Checks that another clock can belong to the same recording: their timescales are equal.
    pub(crate) fn check_same(&self, other: &Self) -> Result<(), MediaClockError> {
        check_timescales(self.timescale, other.timescale)
    }

    /// Converts a trace's first timestamp, to check that the complete trace can be shown on this
    /// clock.
    ///
    /// # Errors
    ///
    /// If the timestamp is before the recording's time 0, because earlier times cannot be shown.
    pub fn start_ns(&self, first_ns: u64) -> Result<u64, MediaClockError> {
        let start_ns = self.to_media_ns(first_ns);
        start_ns.ok_or_else(|| MediaClockError::EventsBefore {
            zero_ns: self.to_host_ns(0),
        })
    }

    /// Converts a timestamp. Returns `None` if the result is before the recording's time 0 or
    /// exceeds a [`u64`].
    #[must_use]
    pub fn to_media_ns(&self, host_ns: u64) -> Option<u64> {
        u64::try_from(convert(&self.points, |point| *point, host_ns)?).ok()
    }

    /// Converts a timestamp. Returns 0 if the result is before the recording's time 0 or exceeds a
    /// [`u64`].
    #[must_use]
    pub fn to_media_ns_or_zero(&self, host_ns: u64) -> u64 {
        self.to_media_ns(host_ns).unwrap_or(0)
    }

    /// Converts a time of the recording to a timestamp, clamped to the range of [`u64`].
    #[must_use]
    pub fn to_host_ns(&self, media_ns: u64) -> u64 {
        match convert(&self.points, |(host, media)| (*media, *host), media_ns) {
            Some(host) if host < 0 => 0,
            Some(host) => u64::try_from(host).unwrap_or(u64::MAX),
            None => u64::MAX,
        }
    }

    /// Returns the range of exactly those timestamps that convert to a time in `media_ns`, or
    /// `None` if no timestamp does.
    #[must_use]
    pub fn to_host_range(&self, media_ns: RangeInclusive<u64>) -> Option<RangeInclusive<u64>> {
        let start = self.first_from(*media_ns.start())?;
        let next = media_ns.end().checked_add(1);
        let end = match next.and_then(|next| self.first_from(next)) {
            Some(next) => next.checked_sub(1)?,
            None => u64::MAX,
        };
        (start <= end).then_some(start..=end)
    }

    /// Returns the first timestamp that converts to this time or a later one.
    fn first_from(&self, media_ns: u64) -> Option<u64> {
        let host_ns = self.to_host_ns(media_ns);
        // Both conversions round down, so the result is this timestamp or the next one.
        let found = convert(&self.points, |point| *point, host_ns)?;
        host_ns.checked_add(u64::from(found < i128::from(media_ns)))
    }
}

/// Why a trace cannot be shown on the clock of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MediaClockError {
    /// There is no timing anchor.
    NoAnchors,
    /// Two anchors have different timescales, in units per second.
    Timescales([i32; 2]),
    /// The recording's time does not advance from one anchor to the next, or the timescale is not
    /// positive.
    NotOneRecording,
    /// The trace begins before the recording's time 0.
    EventsBefore {
        /// The timestamp at which the recording begins.
        zero_ns: u64,
    },
}

impl fmt::Display for MediaClockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoAnchors => f.write_str("the manifest has no timing anchors"),
            Self::Timescales([expected, found]) => write!(
                f,
                "timing anchors have timescales of {expected} and {found}: they are from different recordings"
            ),
            Self::NotOneRecording => {
                f.write_str("the timing anchors are from different recordings")
            }
            Self::EventsBefore { zero_ns } => write!(
                f,
                "events begin before the recording, which is at {zero_ns} ns of the trace's clock: cut them off with \
                 `atf cut --from {zero_ns}`"
            ),
        }
    }
}

impl Error for MediaClockError {}

const fn check_timescales(expected: i32, found: i32) -> Result<(), MediaClockError> {
    if found == expected {
        Ok(())
    } else {
        Err(MediaClockError::Timescales([expected, found]))
    }
}

/// Converts a time along the line through ascending points. `sides` returns a point's times on both
/// clocks.
fn convert(
    points: &[(i128, i128)],
    sides: fn(&(i128, i128)) -> (i128, i128),
    ns: u64,
) -> Option<i128> {
    let ns = i128::from(ns);
    let next = points.partition_point(|point| sides(point).0 <= ns);
    let before = next.checked_sub(1).and_then(|before| points.get(before));
    match (before.map(sides), points.get(next).map(sides)) {
        (Some(start), Some(end)) => {
            let [length, result] = [end.0.checked_sub(start.0)?, end.1.checked_sub(start.1)?];
            let done = ns.checked_sub(start.0)?.checked_mul(result)?;
            start.1.checked_add(done.checked_div(length)?)
        }
        (Some((from, to)), None) => to.checked_add(ns.checked_sub(from)?),
        (None, Some((from, to))) => to.checked_sub(from.checked_sub(ns)?),
        (None, None) => None,
    }
}
