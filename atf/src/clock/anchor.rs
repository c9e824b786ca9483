//! Timing anchors, which align the trace's clock with the clock of a sound or screen recording (S0,
//! S1).

pub(super) const NS_PER_SECOND: i128 = 1_000_000_000;

/// A time in a recording, `value / timescale` seconds: Apple's `CMTime` without its flags and
/// epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct MediaTime {
    /// The numerator.
    pub value: i64,
    /// Units per second: 600, 44 100, 1 000 000 000, … A value of 0 or less is invalid and prevents
    /// conversion.
    pub timescale: i32,
}

impl MediaTime {
    /// Creates the time of `value / timescale` seconds.
    #[must_use]
    pub const fn new(value: i64, timescale: i32) -> Self {
        Self { value, timescale }
    }
}

/// The same moment on the trace's clock and on a recording's clock (S0, S1). A single anchor,
/// captured while both clocks run, aligns the two timelines.
///
/// Conversions in both directions are exact except for a final rounding to the nearest value, with
/// halves rounded away from the anchor.
///
/// ```
/// use atf::clock::{MediaTime, TimingAnchor};
///
/// let anchor = TimingAnchor::new(5_000_000_000, MediaTime::new(1200, 600));
/// // Half a second later the recording is at 2.5 s.
/// let media = MediaTime::new(1500, 600);
/// assert_eq!(anchor.to_media(5_500_000_000), Some(media));
/// assert_eq!(anchor.to_host_ns(media), Some(5_500_000_000));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct TimingAnchor {
    /// The trace's clock at the capture, in nanoseconds, from [`now_ns`](super::now_ns).
    pub host_time_ns: u64,
    /// The recording's clock at the capture.
    pub media_time: MediaTime,
}

impl TimingAnchor {
    /// Creates an anchor from one moment on both clocks.
    #[must_use]
    pub const fn new(host_time_ns: u64, media_time: MediaTime) -> Self {
        Self {
            host_time_ns,
            media_time,
        }
    }

    /// Converts a timestamp, which may precede the anchor, to the recording's time in the anchor's
    /// timescale. Returns `None` if the anchor's timescale is not positive or the value exceeds an
    /// [`i64`].
    #[must_use]
    pub fn to_media(&self, host_time_ns: u64) -> Option<MediaTime> {
        let MediaTime { value, timescale } = self.media_time;
        let scale = positive(timescale)?;
        let elapsed = i128::from(host_time_ns).checked_sub(self.host_time_ns.into())?;
        let parts = divide(elapsed.checked_mul(scale)?, NS_PER_SECOND)?;
        let value = i64::try_from(i128::from(value).checked_add(parts)?).ok()?;
        Some(MediaTime { value, timescale })
    }

    /// Converts a time of the recording, in any timescale, to a timestamp in nanoseconds. Returns
    /// `None` if a timescale is not positive, or the timestamp is below 0 or exceeds a [`u64`].
    #[must_use]
    pub fn to_host_ns(&self, media_time: MediaTime) -> Option<u64> {
        let (parts, scale) = difference(self.media_time, media_time)?;
        let elapsed = divide(parts.checked_mul(NS_PER_SECOND)?, scale)?;
        u64::try_from(i128::from(self.host_time_ns).checked_add(elapsed)?).ok()
    }

    /// Returns how much faster the recording's clock ran than the trace's from this anchor to a
    /// later one, in parts per billion (1000 is a millisecond in a thousand seconds), rounded to
    /// the nearest integer. Returns `None` if the trace's clock has the same time at both anchors,
    /// a timescale is not positive, or the drift exceeds an [`i64`].
    #[must_use]
    pub fn drift_ppb(&self, later: &Self) -> Option<i64> {
        let host = i128::from(later.host_time_ns).checked_sub(self.host_time_ns.into())?;
        let (parts, scale) = difference(self.media_time, later.media_time)?;
        // media / host - 1, with media = parts / scale seconds.
        let whole = host.checked_mul(scale)?;
        let ahead = parts.checked_mul(NS_PER_SECOND)?.checked_sub(whole)?;
        let drift = divide(ahead.checked_mul(NS_PER_SECOND)?, whole)?;
        i64::try_from(drift).ok()
    }
}

/// Returns `to - from` in seconds, as a numerator and a positive denominator.
fn difference(from: MediaTime, to: MediaTime) -> Option<(i128, i128)> {
    let (from_scale, to_scale) = (positive(from.timescale)?, positive(to.timescale)?);
    let (from, to) = (i128::from(from.value), i128::from(to.value));
    if from_scale == to_scale {
        return Some((to.checked_sub(from)?, to_scale));
    }
    let parts = to
        .checked_mul(from_scale)?
        .checked_sub(from.checked_mul(to_scale)?)?;
    Some((parts, to_scale.checked_mul(from_scale)?))
}

pub(super) fn positive(timescale: i32) -> Option<i128> {
    (timescale > 0).then_some(timescale.into())
}

/// Divides and rounds to the nearest integer, with halves rounded away from 0.
fn divide(numer: i128, denom: i128) -> Option<i128> {
    let quotient = numer.checked_div(denom)?;
    let rest = numer.checked_rem(denom)?;
    if rest.unsigned_abs() < denom.unsigned_abs().div_ceil(2) {
        return Some(quotient);
    }
    if numer.is_negative() == denom.is_negative() {
        quotient.checked_add(1)
    } else {
        quotient.checked_sub(1)
    }
}
