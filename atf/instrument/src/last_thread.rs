//! Ends the process after the program's last thread, if the main thread has ended earlier.
//!
//! Without this library, the C library or the system does this. However, both also count this
//! library's threads, and the one that drains rings runs until the process ends.
//!
//! | the main thread | the process ends |
//! |---|---|
//! | called `pthread_exit` | by `exit`, as the C library would end it |
//! | ended by the system call `exit`, as in a child that `clone` started, or was killed alone, as by a seccomp filter | with the main thread's status or signal; if other threads of the program continued, as the system would end it after the last thread |

use std::ffi::{c_int, c_void};
use std::io;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::aside::{self, IS_MAIN_OVER};
use crate::main_thread::{self, MainThread};
use crate::process;
use crate::system;
use crate::thread::{self, AtEnd};

/// The interval at which to check whether a thread has ended.
const LOOKING: Duration = Duration::from_millis(10);

/// How many times to check whether the threads of this library have ended.
const ATTEMPTS: u32 = 100;

/// Whether a thread is waiting for the last thread.
static IS_WAITING: AtomicBool = AtomicBool::new(false);

/// Makes the calling thread, which must be the main thread, report its end.
pub(crate) fn watch_main_thread() {
    static AT_END: AtEnd = AtEnd::new(main_ended);
    AT_END.register(thread::OFF);
}

/// Makes the only thread of a forked child its main thread.
pub(crate) fn forked() {
    aside::forked();
    main_thread::forked();
    IS_WAITING.store(false, Ordering::Release);
    watch_main_thread();
}

unsafe extern "C" fn main_ended(_: *mut c_void) {
    // Functions called here may be instrumented.
    let data = thread::DATA.replace(thread::OFF);
    IS_MAIN_OVER.store(true, Ordering::SeqCst);
    wait_if_needed();
    thread::DATA.set(data);
}

/// Starts waiting for the last thread if the main thread has called `pthread_exit` and the process
/// is recorded.
pub(crate) fn wait_if_needed() {
    let is_needed = IS_MAIN_OVER.load(Ordering::SeqCst) && process::recorded().is_some();
    if is_needed && !start_waiting() {
        let_the_system_end_it();
    }
}

/// Starts waiting for the last thread if the main thread has ended without notice. The drain calls
/// this often.
pub(crate) fn look() {
    static LAST_NS: AtomicU64 = AtomicU64::new(0);
    let now = system::now_ns();
    let since = now.saturating_sub(LAST_NS.load(Ordering::Relaxed));
    if u128::from(since) < LOOKING.as_nanos() || IS_WAITING.load(Ordering::Acquire) {
        return;
    }
    LAST_NS.store(now, Ordering::Relaxed);
    if main_thread::has_executable() {
        return;
    }
    let main = MainThread::read();
    let is_over = match &main {
        Some(main) => main.is_over,
        None => main_thread::has_no_memory(),
    };
    // If there is no memory for a thread, or threads are limited, the next call tries again. After
    // the program's last thread, all events have been written.
    if is_over
        && !start_waiting()
        && let Some(main) = main.filter(MainThread::is_last)
    {
        main.end_alike();
    }
}

/// Starts a thread that waits for the last thread, unless there is one. Returns false if that
/// fails.
fn start_waiting() -> bool {
    if IS_WAITING.swap(true, Ordering::AcqRel) {
        return true;
    }
    let is_started = aside::end_process(Box::new(end_process)).is_ok();
    IS_WAITING.store(is_started, Ordering::Release);
    is_started
}

/// Waits for the program's last thread, and ends the process as it would have ended without this
/// library.
fn end_process() {
    let (mut found, mut has_others) = (0_u32, false);
    // Check twice: a thread of the program may have started another one and ended during a check.
    let main = loop {
        let Some(main) = MainThread::read() else {
            // The system does not report the end of the last thread.
            return let_the_system_end_it();
        };
        if main.is_last() {
            found = found.saturating_add(1);
        } else {
            has_others |= main.is_over;
            found = 0;
        }
        if found == 2 {
            break main;
        }
        std::thread::sleep(LOOKING);
    };
    if IS_MAIN_OVER.load(Ordering::SeqCst) {
        // Record the destructors that `exit` calls.
        thread::DATA.set(ptr::null());
        const STATUS: c_int = 0;
        // SAFETY: no other thread can call `exit`.
        unsafe { libc::exit(STATUS) };
    }
    // A thread that was killed may hold a lock forever, so do not wait forever.
    let finished = aside::run(process::end);
    if finished.is_err_and(|error| error.kind() != io::ErrorKind::TimedOut) {
        process::end();
    }
    if has_others && are_others_over() {
        return;
    }
    main.end_alike();
}

/// Ends the recording and with it this library's threads, so that the C library or the system ends
/// the process after the program's last thread.
fn let_the_system_end_it() {
    IS_MAIN_OVER.store(false, Ordering::Release);
    process::end();
}

/// Waits until the calling thread is the only one of this library. The status of a process whose
/// main thread has ended is that of the main thread or, on newer kernels such as 6.18, of the last
/// thread. Threads of the C library end with status 0.
fn are_others_over() -> bool {
    (0..ATTEMPTS).any(|_| {
        let is_alone = aside::count() == 1;
        if !is_alone {
            std::thread::sleep(LOOKING);
        }
        is_alone
    })
}

impl MainThread {
    /// Returns whether only this library's threads are still running. The main thread is still
    /// counted after it ends.
    fn is_last(&self) -> bool {
        self.is_over && self.threads == aside::count().saturating_add(1)
    }

    /// Ends the process with the main thread's status or signal.
    fn end_alike(&self) -> ! {
        let mut code = libc::WEXITSTATUS(self.status);
        if libc::WIFSIGNALED(self.status) {
            let signal = libc::WTERMSIG(self.status);
            // SAFETY: zeros are valid for its integers.
            let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
            // SAFETY: the pointer refers to a set, to which the call adds the signal.
            unsafe { libc::sigaddset(&raw mut set, signal) };
            // SAFETY: the default action needs no function.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
            // SAFETY: the pointer refers to a set, which the call reads.
            unsafe { libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const set, ptr::null_mut()) };
            // SAFETY: the call has no preconditions. It does not return if the signal ends the
            // process.
            unsafe { libc::raise(signal) };
            code = signal.saturating_add(128);
        }
        // SAFETY: the call has no preconditions.
        unsafe { libc::_exit(code) }
    }
}
