//! The continuous clock of Windows.

use std::ffi::c_int;

// SAFETY: both functions are declared as in <profileapi.h>, with BOOL as int and LARGE_INTEGER as
// the signed 64-bit integer that it is a union around, of the same size and alignment; they stand
// in kernel32, which std links on every Windows. Each writes one such integer through its pointer
// and keeps it no longer than the call, and a `&mut i64` is a valid, exclusive place for one: so
// both are safe to call.
#[link(name = "kernel32")]
unsafe extern "system" {
    #[link_name = "QueryPerformanceCounter"]
    safe fn query_performance_counter(count: &mut i64) -> c_int;
    #[link_name = "QueryPerformanceFrequency"]
    safe fn query_performance_frequency(frequency: &mut i64) -> c_int;
}

/// Ticks since the machine was started. The call cannot fail since Windows XP.
pub(crate) fn ticks() -> u64 {
    let mut count = 0;
    query_performance_counter(&mut count);
    u64::try_from(count).unwrap_or(0)
}

/// Ticks of one second; fixed while the machine runs.
pub(crate) fn ticks_per_second() -> u64 {
    let mut frequency = 0;
    query_performance_frequency(&mut frequency);
    u64::try_from(frequency).unwrap_or(0)
}
