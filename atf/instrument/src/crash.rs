//! The last events of a program that crashes.

use std::ffi::{c_int, c_void};
use std::mem;
use std::ptr;
use std::time::Duration;

use crate::process;
use crate::signals;
use crate::thread;

/// The signals of a crash.
const FATAL: [c_int; 5] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGABRT,
    libc::SIGFPE,
    libc::SIGILL,
];

/// How long a crash is put off, until its events are written.
const PATIENCE: Duration = Duration::from_secs(2);

/// The size of a stack for handlers, in bytes: a thread may crash because its own is full. The
/// program's handlers may run on it too.
const STACK: usize = 256 << 10;

/// The size of the memory below it that nobody can use, in bytes, so that a handler that needs more
/// stops the program: a multiple of the page size of every system.
const GUARD: usize = 64 << 10;

/// Both.
const MAPPED: usize = GUARD + STACK;

/// Has the last events written when the program crashes.
pub(crate) fn arm() {
    for signal in FATAL {
        signals::handle(signal, crashed);
    }
}

/// Triggers, waits until the events are written, and calls the program's handler, which may return
/// or jump elsewhere; without one, lets the program die as it would have.
extern "C" fn crashed(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    thread::keep_errno(|| {
        let process = process::recorded().filter(|_| !thread::is_own_thread());
        if let Some(process) = process {
            process.trigger.fire();
            // If the drain cannot write them in that time, they are lost with the process.
            let _ = process.trigger.wait(PATIENCE);
        }
    });
    if signals::pass_on(signal, info, context) {
        return;
    }
    signals::restore(signal);
    // SAFETY: the system passes valid information about the signal.
    let is_sent = unsafe { info.as_ref() }.is_some_and(|info| info.si_code <= 0);
    if is_sent {
        // A fault happens again when this function returns. A signal that was sent does not.
        // SAFETY: the calls have no conditions. The signal comes when this function returns.
        unsafe { libc::raise(signal) };
    }
}

/// A stack for the handlers of a thread.
#[derive(Debug)]
pub(crate) struct HandlerStack(*mut c_void);

impl HandlerStack {
    /// Gives the calling thread one, unless the program has.
    pub(crate) fn new() -> Option<Self> {
        // SAFETY: zeros are valid for a pointer and numbers.
        let mut stack: libc::stack_t = unsafe { mem::zeroed() };
        // SAFETY: the call writes what is set now to the last pointer.
        unsafe { libc::sigaltstack(ptr::null(), &raw mut stack) };
        if stack.ss_flags & libc::SS_DISABLE == 0 {
            return None;
        }
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping touches no memory of others.
        let whole = unsafe { libc::mmap(ptr::null_mut(), MAPPED, libc::PROT_NONE, kind, -1, 0) };
        if whole == libc::MAP_FAILED {
            return None;
        }
        let place = whole.wrapping_byte_add(GUARD);
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the memory is that of the new mapping.
        if unsafe { libc::mprotect(place, STACK, rights) } != 0 {
            // SAFETY: nobody else knows the mapping.
            unsafe { libc::munmap(whole, MAPPED) };
            return None;
        }
        stack.ss_sp = place;
        stack.ss_size = STACK;
        stack.ss_flags = 0;
        // SAFETY: the stack is the memory mapped above, which is unmapped only after it was unset.
        unsafe { libc::sigaltstack(&raw const stack, ptr::null_mut()) };
        Some(Self(place))
    }
}

impl Drop for HandlerStack {
    /// Takes the calling thread's stack away, unless the program has set another.
    fn drop(&mut self) {
        // SAFETY: zeros are valid for a pointer and numbers.
        let mut stack: libc::stack_t = unsafe { mem::zeroed() };
        // SAFETY: the call writes what is set now to the last pointer.
        unsafe { libc::sigaltstack(ptr::null(), &raw mut stack) };
        if stack.ss_sp == self.0 {
            stack.ss_flags = libc::SS_DISABLE;
            // SAFETY: the call reads the pointer's target.
            unsafe { libc::sigaltstack(&raw const stack, ptr::null_mut()) };
        }
        // SAFETY: `new` mapped it, and no handler runs on it: this function is not called by one.
        unsafe { libc::munmap(self.0.wrapping_byte_sub(GUARD), MAPPED) };
    }
}
