//! Triggers set by the program and the user, and those of signals that kill the program: its last
//! events are written first.

use std::ffi::{c_int, c_void};
use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use atf_record::Trigger;

use crate::aside;
use crate::guest::keep_errno;
use crate::memory;
use crate::process;
use crate::settings::Triggers;
use crate::signals;
use crate::system::now_ns;
use crate::thread;

/// The signals that indicate a crash.
const FATAL: [c_int; 5] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGABRT,
    libc::SIGFPE,
    libc::SIGILL,
];

/// Signals that users send to end programs that do not handle them.
const ENDING: [c_int; 4] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];

/// How long a dying program may wait for the last events to be written.
const PATIENCE: Duration = Duration::from_secs(2);

/// The program may spend 1/`SHARE` of its run time waiting for the events of handled faults.
const SHARE: u64 = 100;

/// The stack size for handlers, in bytes: a thread may crash because its own stack is full. The
/// program's handlers may run on this stack too.
const STACK: usize = 256 << 10;

/// The size of the inaccessible memory below the stack, in bytes, so that a handler that overflows
/// the stack crashes. A multiple of every system's page size.
const GUARD: usize = 64 << 10;

const MAPPED: usize = GUARD + STACK;

/// Triggers a window now if the program is recorded with windows. Signal handlers may call this
/// function.
///
/// A program that also runs without this library declares the function as a weak symbol:
///
/// ```c
/// __attribute__((weak)) void atf_instrument_trigger(void);
/// if (atf_instrument_trigger) atf_instrument_trigger();
/// ```
#[unsafe(no_mangle)]
pub extern "C" fn atf_instrument_trigger() {
    if let Some(process) = process::recorded() {
        process.trigger.fire();
    }
}

/// Arms the triggers in the settings.
pub(crate) fn arm(triggers: &Triggers, trigger: &Trigger) {
    if let Some(after) = triggers.after {
        let after = u64::try_from(after.as_nanos()).unwrap_or(u64::MAX);
        trigger.fire_at(now_ns().saturating_add(after));
    }
    if let Some(signal) = triggers.signal {
        signals::handle(signal, triggered);
    }
    if triggers.are_crashes {
        arm_crashes();
    }
}

extern "C" fn triggered(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    keep_errno(|| atf_instrument_trigger());
    // If the program has no handler, the signal is only a trigger.
    let _ = signals::pass_on(signal, info, context);
}

/// Arranges for the last events to be written when the program crashes or one of the signals in
/// [`ENDING`] ends it.
fn arm_crashes() {
    for signal in FATAL {
        signals::handle(signal, crashed);
    }
    // Skip signals that the program handles: the handler may let the program continue.
    for signal in ENDING
        .into_iter()
        .filter(|signal| signals::is_default(*signal))
    {
        signals::handle(signal, ended);
    }
}

/// Fires the trigger, waits until the events are written, and lets the program end as it would have
/// anyway.
extern "C" fn ended(signal: c_int, _: *mut libc::siginfo_t, _: *mut c_void) {
    keep_errno(|| write_last(PATIENCE));
    signals::restore(signal);
    // SAFETY: the call has no preconditions. The signal is delivered when this function returns.
    unsafe { libc::raise(signal) };
}

/// Fires the trigger, waits until the events are written, and calls the program's handler, which
/// may return or jump elsewhere. Without a handler, lets the program die as it would have anyway.
extern "C" fn crashed(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    keep_errno(|| {
        if signals::has_handler(signal) {
            let start = now_ns();
            write_last(HANDLED.patience(start));
            HANDLED.spend(now_ns().saturating_sub(start));
        } else {
            write_last(PATIENCE);
        }
    });
    if signals::pass_on(signal, info, context) {
        return;
    }
    let has_information = signals::has_information(signal);
    signals::restore(signal);
    // SAFETY: the system passes valid information about the signal to a handler that requested it.
    let information = unsafe { info.as_ref() }.filter(|_| has_information);
    if information.is_none_or(|info| info.si_code <= 0) {
        // When this function returns, a fault recurs, but a signal that was sent does not.
        // SAFETY: the calls have no preconditions. The signal is delivered when this function
        // returns.
        unsafe { libc::raise(signal) };
    }
}

/// Fires the trigger and waits until the events are written.
fn write_last(patience: Duration) {
    let process = process::recorded().filter(|_| !aside::is_drain());
    if let Some(process) = process {
        memory::while_drain_is_apart(|| {
            if let Some(id) = thread::ID.get() {
                process.trigger.put_first(id);
            }
            process.trigger.fire_last();
            // If the drain cannot write the events in that time, they are lost with the process.
            let _ = process.trigger.wait(patience);
        });
    }
}

/// How long the program has waited for the events of faults that it handles. Garbage collectors
/// handle faults all the time, but any fault may be the one that ends the program. The program
/// therefore waits for each, but in total for at most [`PATIENCE`] plus 1/[`SHARE`] of its run
/// time.
struct Waits {
    /// When the first wait began.
    since_ns: AtomicU64,
    spent_ns: AtomicU64,
}

static HANDLED: Waits = Waits::new();

impl Waits {
    const fn new() -> Self {
        Self {
            since_ns: AtomicU64::new(u64::MAX),
            spent_ns: AtomicU64::new(0),
        }
    }

    /// Returns how long a wait that begins at `now_ns` may take.
    fn patience(&self, now_ns: u64) -> Duration {
        let since = self.since_ns.fetch_min(now_ns, Ordering::Relaxed);
        let share = now_ns.saturating_sub(since) / SHARE;
        let spent = Duration::from_nanos(self.spent_ns.load(Ordering::Relaxed));
        let left = PATIENCE.saturating_add(Duration::from_nanos(share));
        left.saturating_sub(spent).min(PATIENCE)
    }

    fn spend(&self, time_ns: u64) {
        self.spent_ns.fetch_add(time_ns, Ordering::Relaxed);
    }
}

/// A stack for a thread's signal handlers.
#[derive(Debug)]
pub(crate) struct HandlerStack(*mut c_void);

impl HandlerStack {
    /// Sets up a handler stack for the calling thread, unless the program has already set one.
    pub(crate) fn new() -> Option<Self> {
        let mut stack = handler_stack();
        if stack.ss_flags & libc::SS_DISABLE == 0 {
            return None;
        }
        let whole = memory::map(MAPPED, libc::PROT_NONE, libc::MAP_PRIVATE);
        if whole.is_null() {
            return None;
        }
        let place = whole.wrapping_byte_add(GUARD);
        // SAFETY: the memory belongs to the new mapping.
        if unsafe { libc::mprotect(place, STACK, memory::WRITABLE) } != 0 {
            // SAFETY: nothing else uses the mapping.
            unsafe { libc::munmap(whole, MAPPED) };
            return None;
        }
        stack.ss_sp = place;
        stack.ss_size = STACK;
        stack.ss_flags = 0;
        // SAFETY: the stack is the memory mapped above, which is unmapped only after the stack is
        // unset.
        unsafe { libc::sigaltstack(&raw const stack, ptr::null_mut()) };
        Some(Self(place))
    }
}

impl Drop for HandlerStack {
    /// Unsets the calling thread's signal stack, unless the program has installed its own.
    fn drop(&mut self) {
        let mut stack = handler_stack();
        if stack.ss_sp == self.0 {
            stack.ss_flags = libc::SS_DISABLE;
            // SAFETY: the call only reads the pointer's target.
            unsafe { libc::sigaltstack(&raw const stack, ptr::null_mut()) };
        }
        // SAFETY: `new` mapped the memory, and no handler runs on it, because handlers never call
        // this function.
        unsafe { libc::munmap(self.0.wrapping_byte_sub(GUARD), MAPPED) };
    }
}

/// Returns the calling thread's current handler stack.
fn handler_stack() -> libc::stack_t {
    // SAFETY: zeros are valid for a pointer and numbers.
    let mut stack: libc::stack_t = unsafe { mem::zeroed() };
    // SAFETY: the call writes the current setting to the last pointer.
    unsafe { libc::sigaltstack(ptr::null(), &raw mut stack) };
    stack
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_handles_faults_waits_for_the_patience_plus_a_hundredth_of_its_time() {
        let second = 1_000_000_000;
        let waits = Waits::new();
        let milliseconds = |now| u64::try_from(waits.patience(now).as_millis()).unwrap_or(0);
        assert_eq!(milliseconds(5 * second), 2000);
        waits.spend(3 * second / 2);
        assert_eq!(milliseconds(5 * second), 500);
        waits.spend(second / 2);
        assert_eq!(milliseconds(5 * second), 0);
        assert_eq!(milliseconds(6 * second), 10);
        // A wait may take slightly longer than allowed.
        waits.spend(second / 50);
        assert_eq!(milliseconds(6 * second), 0);
        assert_eq!(milliseconds(15 * second), 80);
        assert_eq!(milliseconds(3600 * second), 2000);
    }
}
