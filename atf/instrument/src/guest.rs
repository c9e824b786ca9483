//! Keeps the program undisturbed while its threads run code of this library.

use std::ffi::c_int;
use std::io::{self, Write as _};
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Runs `work` and restores `errno`, because the program may read it after its own calls.
pub(crate) fn keep_errno(work: impl FnOnce()) {
    // SAFETY: the call has no preconditions.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: the address is valid as long as the thread.
    let before = unsafe { *place };
    work();
    // SAFETY: as above.
    unsafe { *place = before };
}

/// Runs `start` with all signals blocked. The threads that it starts inherit the blocked signals,
/// so the program's handlers run only in the program's own threads.
pub(crate) fn without_signals<T>(start: impl FnOnce() -> T) -> T {
    // SAFETY: zeros are valid for its integers.
    let mut all: libc::sigset_t = unsafe { std::mem::zeroed() };
    let mut before = all;
    // SAFETY: the pointer refers to a set, which the call writes.
    unsafe { libc::sigfillset(&raw mut all) };
    // SAFETY: both pointers refer to sets; the call reads one and writes the other.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before) };
    let result = start();
    // SAFETY: the pointer refers to a set, which the call reads.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, ptr::null_mut()) };
    result
}

unsafe extern "C" {
    fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
}

/// Runs `work` with thread cancellation disabled.
pub(crate) fn uncancelled<T>(work: impl FnOnce() -> T) -> T {
    /// `PTHREAD_CANCEL_DISABLE`.
    const DISABLED: c_int = 1;
    let mut before = 0;
    // SAFETY: the pointer refers to a number, which the call writes.
    unsafe { pthread_setcancelstate(DISABLED, &raw mut before) };
    let result = work();
    // SAFETY: the state is the one returned above; the previous state may be null on Linux.
    unsafe { pthread_setcancelstate(before, ptr::null_mut()) };
    result
}

/// Reports an error on standard error. Even if that fails, the program continues.
pub(crate) fn complain(message: &str) {
    let _ = writeln!(io::stderr(), "atf: {message}");
}

/// Locks a mutex, even if a thread panicked while it held it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
