//! Runs a function at the end of the process.

/// Runs a function when the process ends or, in a library that is unloaded earlier, when the
/// library is unloaded. Returns whether the system can do this.
#[cfg(all(unix, not(miri)))]
pub(crate) fn at_exit(run: extern "C" fn()) -> bool {
    // SAFETY: the function takes no arguments, and the C library calls it while its code is loaded.
    unsafe { libc::atexit(run) == 0 }
}

#[cfg(not(all(unix, not(miri))))]
pub(crate) fn at_exit(_run: extern "C" fn()) -> bool {
    false
}
