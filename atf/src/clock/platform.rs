//! Each platform's clock, with the same two names: `CLOCK` and `now_ns`.

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) use boottime::{CLOCK, now_ns};
#[cfg(not(any(
    target_os = "linux",
    target_os = "android",
    target_vendor = "apple",
    windows
)))]
pub(super) use instant::{CLOCK, now_ns};
#[cfg(any(target_vendor = "apple", windows))]
pub(super) use ticks::{CLOCK, now_ns};

/// `CLOCK_BOOTTIME`, which already counts nanoseconds.
#[cfg(any(target_os = "linux", target_os = "android"))]
mod boottime {
    use crate::sys;
    use crate::wire::Clock;

    pub(crate) const CLOCK: Clock = Clock::BOOTTIME;
    const NS_PER_SECOND: u64 = 1_000_000_000;

    #[inline]
    pub(crate) fn now_ns() -> u64 {
        let time = sys::boottime();
        // The time since boot is not negative, and nanoseconds in a `u64` do not overflow for 584
        // years. Checks would double the number of instructions in this function.
        #[allow(clippy::cast_sign_loss, reason = "not negative")]
        let (seconds, nanoseconds) = (time.tv_sec as u64, time.tv_nsec as u64);
        seconds
            .wrapping_mul(NS_PER_SECOND)
            .wrapping_add(nanoseconds)
    }
}

/// Clocks that count ticks. The length of a tick is queried once.
#[cfg(any(target_vendor = "apple", windows))]
mod ticks {
    use std::sync::OnceLock;

    use super::super::Timebase;
    #[cfg(target_vendor = "apple")]
    use crate::sys::clock_apple as sys;
    #[cfg(windows)]
    use crate::sys::clock_windows as sys;
    use crate::wire::Clock;

    #[cfg(target_vendor = "apple")]
    pub(crate) const CLOCK: Clock = Clock::MACH_CONTINUOUS;
    #[cfg(windows)]
    pub(crate) const CLOCK: Clock = Clock::QPC;

    static TIMEBASE: OnceLock<Timebase> = OnceLock::new();

    #[inline]
    pub(crate) fn now_ns() -> u64 {
        timebase().to_ns(sys::ticks())
    }

    /// Returns the length of a tick. If the platform does not report it, a tick counts as a
    /// nanosecond, so that at least the order of events is correct.
    fn timebase() -> &'static Timebase {
        TIMEBASE.get_or_init(|| ask().unwrap_or(Timebase::NANOSECONDS))
    }

    #[cfg(target_vendor = "apple")]
    fn ask() -> Option<Timebase> {
        let (numer, denom) = sys::timebase();
        Timebase::new(numer, denom)
    }

    #[cfg(windows)]
    fn ask() -> Option<Timebase> {
        Timebase::from_frequency(sys::ticks_per_second())
    }
}

/// The standard library's clock, measured from its first reading, for platforms without a clock in
/// the format.
#[cfg(not(any(
    target_os = "linux",
    target_os = "android",
    target_vendor = "apple",
    windows
)))]
mod instant {
    use std::sync::OnceLock;
    use std::time::Instant;

    use crate::wire::Clock;

    pub(crate) const CLOCK: Clock = Clock(0);

    static START: OnceLock<Instant> = OnceLock::new();

    pub(crate) fn now_ns() -> u64 {
        let start = START.get_or_init(Instant::now);
        u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}
