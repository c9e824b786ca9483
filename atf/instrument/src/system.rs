//! The system's functions, such as the clock, that a program may replace with its own.
//!
//! A simulator may define a `clock_gettime` that shows the simulated time. This library must not
//! call it: the program's function may have hooks, or may change the program's state, and the
//! drain would use the wrong clock for its waits. The linker therefore makes all calls in
//! `libatf_instrument.so`, including those of Rust's standard library, call the functions below:
//! see `build.rs`. In `libatf_instrument.a`, only [`now_ns`] is independent of the program.
//!
//! `tests/programs/symbols.txt` lists the remaining functions of other libraries.

use std::ffi::c_int;

use rustix::time::ClockId;

/// Returns the time for an event, in nanoseconds, from the clock of [`atf::clock::now_ns`]. Hooks
/// may call this while they are not guarded against calls to instrumented functions.
#[inline]
pub(crate) fn now_ns() -> u64 {
    const NS_PER_SECOND: u64 = 1_000_000_000;
    let time = rustix::time::clock_gettime(ClockId::Boottime);
    // As in `atf::clock`: the time since boot is not negative, and does not overflow for 584 years.
    #[allow(clippy::cast_sign_loss, reason = "not negative")]
    let (seconds, nanoseconds) = (time.tv_sec as u64, time.tv_nsec as u64);
    seconds
        .wrapping_mul(NS_PER_SECOND)
        .wrapping_add(nanoseconds)
}

/// Replaces `clock_gettime`.
///
/// # Safety
///
/// `time` is valid for a write.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn atf_instrument_clock_gettime(
    id: libc::clockid_t,
    time: *mut libc::timespec,
) -> c_int {
    let Ok(clock) = ClockId::try_from(id) else {
        // SAFETY: the caller guarantees that the call may write the time.
        return result(unsafe { libc::syscall(libc::SYS_clock_gettime, id, time) });
    };
    let now = rustix::time::clock_gettime(clock);
    // SAFETY: zeros are valid for its integers.
    let mut found: libc::timespec = unsafe { std::mem::zeroed() };
    (found.tv_sec, found.tv_nsec) = (now.tv_sec as _, now.tv_nsec as _);
    // SAFETY: guaranteed by the caller.
    unsafe { time.write(found) };
    0
}

/// Replaces `clock_nanosleep`.
///
/// # Safety
///
/// `request` refers to a time, and `rest` is null or valid for a write.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn atf_instrument_clock_nanosleep(
    id: libc::clockid_t,
    flags: c_int,
    request: *const libc::timespec,
    rest: *mut libc::timespec,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    match unsafe { libc::syscall(libc::SYS_clock_nanosleep, id, flags, request, rest) } {
        0 => 0,
        // Unlike most functions, this one returns the error.
        _ => std::io::Error::last_os_error().raw_os_error().unwrap_or(0),
    }
}

/// Replaces `getpid`.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn atf_instrument_getpid() -> libc::pid_t {
    // SAFETY: the call has no preconditions.
    result(unsafe { libc::syscall(libc::SYS_getpid) })
}

/// Replaces `gettid`.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn atf_instrument_gettid() -> libc::pid_t {
    // SAFETY: the call has no preconditions.
    result(unsafe { libc::syscall(libc::SYS_gettid) })
}

/// Converts the result of a system call that returns an `int`.
fn result(result: libc::c_long) -> c_int {
    c_int::try_from(result).unwrap_or(-1)
}
