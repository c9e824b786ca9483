//! Triggers set by the program and by the user.

use std::ffi::{c_int, c_void};

use atf_record::Trigger;

use crate::crash;
use crate::guest::keep_errno;
use crate::process;
use crate::settings::Triggers;
use crate::signals;
use crate::system::now_ns;

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
        crash::arm();
    }
}

extern "C" fn triggered(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    keep_errno(|| atf_instrument_trigger());
    // If the program has no handler, the signal is only a trigger.
    let _ = signals::pass_on(signal, info, context);
}
