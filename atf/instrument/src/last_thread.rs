//! Ends the process after the program's last thread, if the main thread has called `pthread_exit`.
//!
//! Normally, the C library does this. However, it also counts this library's threads, and the one
//! that drains rings runs until the process ends.

use std::ffi::{c_int, c_void};
use std::fs;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::aside::{self, IS_MAIN_OVER};
use crate::process;
use crate::thread::{self, AtEnd};

/// The interval at which to check whether the last thread has ended.
const LOOKING: Duration = Duration::from_millis(10);

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
    IS_WAITING.store(false, Ordering::Release);
    watch_main_thread();
}

unsafe extern "C" fn main_ended(_: *mut c_void) {
    IS_MAIN_OVER.store(true, Ordering::SeqCst);
    wait_if_needed();
}

/// Starts waiting for the last thread if the main thread has ended and the process is recorded.
pub(crate) fn wait_if_needed() {
    let is_needed = IS_MAIN_OVER.load(Ordering::SeqCst) && process::recorded().is_some();
    if !is_needed || IS_WAITING.swap(true, Ordering::AcqRel) {
        return;
    }
    if aside::end_process(Box::new(end_process)).is_err() {
        // Once the thread that drains rings has ended, the C library can end the process.
        IS_MAIN_OVER.store(false, Ordering::Release);
        process::end();
    }
}

/// Waits for the program's last thread, and ends the process as the C library would.
fn end_process() {
    // Check twice: a thread of the program may have started another one and ended during a check.
    let mut found = 0_u32;
    while found < 2 {
        std::thread::sleep(LOOKING);
        found = if is_last() {
            found.saturating_add(1)
        } else {
            0
        };
    }
    // Record the destructors that `exit` calls.
    thread::DATA.set(ptr::null());
    const STATUS: c_int = 0;
    // SAFETY: no other thread can call `exit`.
    unsafe { libc::exit(STATUS) };
}

/// Returns whether only this library's threads are still running. The main thread is still listed
/// after its end.
fn is_last() -> bool {
    // The state follows the program's name in parentheses, which may contain any bytes.
    let stat = fs::read("/proc/self/stat").unwrap_or_default();
    let is_over = String::from_utf8_lossy(&stat)
        .rsplit_once(") ")
        .is_some_and(|(_, rest)| rest.starts_with('Z'));
    let threads = fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
    is_over && threads == aside::count().saturating_add(1)
}
