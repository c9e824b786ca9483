//! Shields the program from side effects of this library's code, which runs in the program's
//! threads.

use std::ffi::c_int;
use std::io::{self, Write as _};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use atf_record::uncancelled;

/// The calling thread's `errno`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Errno(*mut c_int);

impl Errno {
    pub(crate) fn new() -> Self {
        // SAFETY: the call has no preconditions.
        Self(unsafe { libc::__errno_location() })
    }

    /// Runs `work` and restores `errno`, because the program may read it after its own calls. The
    /// calling thread must be the one that created this.
    #[inline]
    pub(crate) fn keep(self, work: impl FnOnce()) {
        // SAFETY: the address is valid as long as the thread.
        let before = unsafe { *self.0 };
        work();
        // SAFETY: as above.
        unsafe { *self.0 = before };
    }
}

/// Runs `work` and restores `errno`.
pub(crate) fn keep_errno(work: impl FnOnce()) {
    Errno::new().keep(work);
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

/// Whether standard error was closed when the library was loaded. If so, its descriptor may now
/// belong to a file that the program opened.
static IS_STDERR_CLOSED: AtomicBool = AtomicBool::new(false);

/// Checks whether standard error is open.
pub(crate) fn look_at_stderr() {
    // SAFETY: the call has no preconditions.
    let flags = unsafe { libc::fcntl(libc::STDERR_FILENO, libc::F_GETFD) };
    IS_STDERR_CLOSED.store(flags == -1, Ordering::Relaxed);
}

/// Reports an error on standard error. Even if that fails, the program continues: if standard error
/// is a pipe without a reader, SIGPIPE would kill it.
pub(crate) fn complain(message: &str) {
    if IS_STDERR_CLOSED.load(Ordering::Relaxed) {
        return;
    }
    without_signals(|| {
        let was_pending = is_pipe_signal_pending();
        let written = uncancelled(|| writeln!(io::stderr(), "atf: {message}"));
        let is_broken = written.is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe);
        if is_broken && !was_pending {
            take_pipe_signal();
        }
    });
}

/// Returns whether a blocked SIGPIPE is pending for the calling thread or the process.
fn is_pipe_signal_pending() -> bool {
    // SAFETY: zeros are valid for its integers.
    let mut pending: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer refers to a set, which the call writes.
    unsafe { libc::sigpending(&raw mut pending) };
    // SAFETY: the pointer refers to a set, which the call reads.
    unsafe { libc::sigismember(&raw const pending, libc::SIGPIPE) == 1 }
}

/// Removes a blocked SIGPIPE from the calling thread's pending signals.
fn take_pipe_signal() {
    // SAFETY: zeros are valid for its integers.
    let now: libc::timespec = unsafe { std::mem::zeroed() };
    // SAFETY: zeros are also valid for a set, which is then empty.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer refers to a set, to which the call adds a signal.
    unsafe { libc::sigaddset(&raw mut set, libc::SIGPIPE) };
    // SAFETY: the pointers refer to a set and a time, which the call reads. The last one may be
    // null.
    unsafe { libc::sigtimedwait(&raw const set, ptr::null_mut(), &raw const now) };
}

/// Locks a mutex, even if a thread panicked while holding it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
