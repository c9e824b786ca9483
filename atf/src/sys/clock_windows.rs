//! The continuous clock of Windows.

use std::ffi::c_int;

// SAFETY: both functions are declared as in <profileapi.h>, with BOOL as int and LARGE_INTEGER as
// the signed 64-bit integer that the union contains, with the same size and alignment. They are
// part of kernel32, which std links on every version of Windows. Each writes one such integer
// through its pointer and does not keep the pointer after the call. A `&mut i64` is a valid and
// exclusive pointer to such an integer, so both are safe to call.
#[link(name = "kernel32")]
unsafe extern "system" {
    #[link_name = "QueryPerformanceCounter"]
    safe fn query_performance_counter(count: &mut i64) -> c_int;
    #[link_name = "QueryPerformanceFrequency"]
    safe fn query_performance_frequency(frequency: &mut i64) -> c_int;
}

/// Returns the ticks since the machine booted. The call cannot fail on Windows XP or later.
pub(crate) fn ticks() -> u64 {
    let mut count = 0;
    query_performance_counter(&mut count);
    u64::try_from(count).unwrap_or(0)
}

/// Returns the ticks per second, which are constant while the machine runs.
pub(crate) fn ticks_per_second() -> u64 {
    let mut frequency = 0;
    query_performance_frequency(&mut frequency);
    u64::try_from(frequency).unwrap_or(0)
}
