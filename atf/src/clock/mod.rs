//! The clock for timestamps, in nanoseconds: the platform's continuous clock, which keeps running
//! while the machine sleeps (S0, S1, S3).
//!
//! | platform | source | [`CLOCK`] |
//! |---|---|---|
//! | Linux, Android | `clock_gettime(CLOCK_BOOTTIME)` | [`Clock::BOOTTIME`] |
//! | macOS, iOS | `mach_continuous_time()` | [`Clock::MACH_CONTINUOUS`] |
//! | Windows | `QueryPerformanceCounter()` | [`Clock::QPC`] |
//! | others | [`std::time::Instant`], from its first reading | `Clock(0)`, which no source defines |
//!
//! All threads on a machine read the same clock, so their timestamps are comparable. Timestamps
//! from different machines or different boots are not. A [`TimingAnchor`] relates this clock to the
//! clock of a sound or screen recording.

mod anchor;
mod media;
mod platform;
mod timebase;

use crate::wire::Clock;

pub use anchor::{MediaTime, TimingAnchor};
pub use media::{MediaClock, MediaClockError};
pub use timebase::Timebase;

/// The clock that [`now_ns`] reads, as recorded in headers (`header.clock_type`).
pub const CLOCK: Clock = platform::CLOCK;

/// Queries the platform's tick length now, so that [`now_ns`] does not have to do it later
/// (`ada_timing_init` in S1). Calling this is optional, and calling it again is harmless.
pub fn init() {
    // The first reading queries it.
    let _ = now_ns();
}

/// Returns the continuous clock's time in nanoseconds (`ada_get_timestamp_ns` in S1), which is
/// never earlier than a previous reading on any thread of the same machine. Does not require
/// [`init`], takes no lock and does not allocate.
///
/// ```
/// let before = atf::clock::now_ns();
/// assert!(atf::clock::now_ns() >= before);
/// ```
#[must_use]
#[inline]
pub fn now_ns() -> u64 {
    platform::now_ns()
}
