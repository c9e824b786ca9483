//! Defers the cancellation of threads.

/// Runs `work` with the calling thread's cancellation disabled: `pthread_cancel` takes effect at
/// the thread's next cancellation point after the call.
///
/// Most system calls that may wait are cancellation points, which end a cancelled thread by
/// unwinding its stack. A stack with Rust functions must not be unwound like this: depending on the
/// functions, the process aborts, or the state that they were changing stays in use. A thread with
/// asynchronous cancellation (`PTHREAD_CANCEL_ASYNCHRONOUS`) must not call this function.
pub fn uncancelled<T>(work: impl FnOnce() -> T) -> T {
    let _disabled = system::Disabled::new();
    work()
}

/// Systems where threads can be cancelled. Android, for example, has no such function.
#[cfg(all(any(target_os = "linux", target_vendor = "apple"), not(miri)))]
mod system {
    use std::ffi::c_int;

    /// `PTHREAD_CANCEL_DISABLE`.
    const DISABLE: c_int = if cfg!(target_vendor = "apple") { 0 } else { 1 };

    unsafe extern "C" {
        fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
    }

    /// A guard that restores the thread's cancellation, even after a panic.
    pub(super) struct Disabled(c_int);

    impl Disabled {
        pub(super) fn new() -> Self {
            let mut before = DISABLE;
            // SAFETY: the pointer refers to a number, which the call writes.
            unsafe { pthread_setcancelstate(DISABLE, &raw mut before) };
            Self(before)
        }
    }

    impl Drop for Disabled {
        fn drop(&mut self) {
            let mut unused = 0;
            // SAFETY: the state is the one that `new` received, and the pointer refers to a number,
            // which the call writes.
            unsafe { pthread_setcancelstate(self.0, &raw mut unused) };
        }
    }
}

#[cfg(not(all(any(target_os = "linux", target_vendor = "apple"), not(miri))))]
mod system {
    pub(super) struct Disabled;

    impl Disabled {
        pub(super) fn new() -> Self {
            Self
        }
    }
}
