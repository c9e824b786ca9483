//! The clock of the timestamps: the platform's continuous one, which goes on while the machine
//! sleeps, in nanoseconds (S0, S1, S3).
//!
//! | platform | what is read | [`CLOCK`] |
//! |---|---|---|
//! | Linux, Android | `clock_gettime(CLOCK_BOOTTIME)` | [`Clock::BOOTTIME`] |
//! | macOS, iOS | `mach_continuous_time()` | [`Clock::MACH_CONTINUOUS`] |
//! | Windows | `QueryPerformanceCounter()` | [`Clock::QPC`] |
//! | others | [`std::time::Instant`], from its first reading | `Clock(0)`, which no source names |
//!
//! All threads of a machine read one clock, so their timestamps compare; those of two machines, or
//! of two boots, do not. [`TimingAnchor`] ties it to the clock of a sound or screen recording.

mod anchor;
mod platform;
mod timebase;

use crate::wire::Clock;

pub use anchor::{MediaTime, TimingAnchor};
pub use timebase::Timebase;

/// The clock that [`now_ns`] reads, as headers record it (`header.clock_type`).
pub const CLOCK: Clock = platform::CLOCK;

/// Asks the platform now what a tick of its clock is, so that no later [`now_ns`] has to
/// (`ada_timing_init` in S1). No call needs it, and calling it again is harmless.
pub fn init() {
    platform::init();
}

/// Nanoseconds of the continuous clock (`ada_get_timestamp_ns` in S1): never less than an earlier
/// reading on the same machine, on any thread. Needs no [`init`], takes no lock, allocates nothing.
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
