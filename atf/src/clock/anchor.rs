//! One moment on two clocks: the trace's and that of a sound or screen recording (S0, S1).

/// A time of a recording: `value / timescale` seconds, the rational number that Apple calls
/// `CMTime`, without its flags and its epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MediaTime {
    /// The numerator.
    pub value: i64,
    /// Parts of a second: 600, 44 100, 1 000 000 000, … A time with 0 or less is invalid, and
    /// nothing converts to or from it.
    pub timescale: i32,
}

/// The same moment as the trace's clock and a recording's clock show it (S0, S1): captured once
/// while both run, it ties the two timelines together.
///
/// Both conversions are exact up to one rounding, to the nearest and halves away from the anchor.
///
/// ```
/// use atf::clock::{MediaTime, TimingAnchor};
///
/// let anchor = TimingAnchor {
///     host_time_ns: 5_000_000_000,
///     media_time: MediaTime { value: 1200, timescale: 600 },
/// };
/// // Half a second later the recording is at 2.5 s.
/// let media = MediaTime { value: 1500, timescale: 600 };
/// assert_eq!(anchor.to_media(5_500_000_000), Some(media));
/// assert_eq!(anchor.to_host_ns(media), Some(5_500_000_000));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TimingAnchor {
    /// The trace's clock in nanoseconds: [`now_ns`](super::now_ns) at the capture.
    pub host_time_ns: u64,
    /// The recording's clock at the capture.
    pub media_time: MediaTime,
}

const NS_PER_SECOND: i128 = 1_000_000_000;

impl TimingAnchor {
    /// The recording's time at a timestamp, in the anchor's timescale, before the anchor too.
    /// `None` where the anchor's timescale is not positive or the value passes an [`i64`].
    #[must_use]
    pub fn to_media(&self, host_time_ns: u64) -> Option<MediaTime> {
        let MediaTime { value, timescale } = self.media_time;
        let scale = positive(timescale)?;
        let elapsed = i128::from(host_time_ns).checked_sub(self.host_time_ns.into())?;
        let parts = divide(elapsed.checked_mul(scale)?, NS_PER_SECOND)?;
        let value = i64::try_from(i128::from(value).checked_add(parts)?).ok()?;
        Some(MediaTime { value, timescale })
    }

    /// The timestamp in nanoseconds at a time of the recording, whatever its timescale. `None`
    /// where a timescale is not positive, or the timestamp is below 0 or passes a [`u64`].
    #[must_use]
    pub fn to_host_ns(&self, media_time: MediaTime) -> Option<u64> {
        let (parts, scale) = difference(self.media_time, media_time)?;
        let elapsed = divide(parts.checked_mul(NS_PER_SECOND)?, scale)?;
        u64::try_from(i128::from(self.host_time_ns).checked_add(elapsed)?).ok()
    }

    /// How much faster the recording's clock ran than the trace's from this anchor to a later one,
    /// in parts of 10⁹ (1000 are a millisecond in a thousand seconds), rounded to the nearest.
    /// `None` where the trace's clock shows the same time at both, a timescale is not positive, or
    /// the drift passes an [`i64`].
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

/// `to - from` as a numerator and a positive denominator, in seconds.
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

fn positive(timescale: i32) -> Option<i128> {
    (timescale > 0).then_some(timescale.into())
}

/// The quotient, rounded to the nearest and halves away from 0.
fn divide(numer: i128, denom: i128) -> Option<i128> {
    let quotient = numer.checked_div(denom)?;
    let rest = numer.checked_rem(denom)?;
    if rest.unsigned_abs() < denom.unsigned_abs().div_ceil(2) {
        return Some(quotient);
    }
    match numer.is_negative() == denom.is_negative() {
        true => quotient.checked_add(1),
        false => quotient.checked_sub(1),
    }
}
