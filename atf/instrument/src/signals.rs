//! Handlers of signals in a program that may have its own.

use std::ffi::{c_int, c_void};
use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A handler.
pub(crate) type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// The program's own action for each signal. Never freed, since handlers use it.
static BEFORE: [AtomicPtr<libc::sigaction>; 65] = [const { AtomicPtr::new(ptr::null_mut()) }; 65];

fn place(signal: c_int) -> Option<&'static AtomicPtr<libc::sigaction>> {
    BEFORE.get(usize::try_from(signal).ok()?)
}

/// Sets a handler, which a forked child inherits.
pub(crate) fn handle(signal: c_int, handler: Handler) {
    let Some(place) = place(signal) else {
        return;
    };
    // SAFETY: zeros are valid for its numbers and its set of signals, which is then empty.
    let mut before: libc::sigaction = unsafe { mem::zeroed() };
    // SAFETY: the call writes what is set now to the last pointer.
    let status = unsafe { libc::sigaction(signal, ptr::null(), &raw mut before) };
    let address = handler as *const () as usize;
    if status != 0 || before.sa_sigaction == address {
        return;
    }
    let mut action = before;
    action.sa_sigaction = address;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
    // Before the handler can be called.
    place.store(Box::into_raw(Box::new(before)), Ordering::Release);
    // SAFETY: the call reads the action, whose handler has the type that its flags say.
    unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) };
}

/// Sets again what the program had done.
pub(crate) fn restore(signal: c_int) {
    let before = place(signal).map_or(ptr::null_mut(), |place| place.load(Ordering::Acquire));
    if !before.is_null() {
        // SAFETY: the call reads the action, which `handle` leaked.
        unsafe { libc::sigaction(signal, before, ptr::null_mut()) };
    }
}

/// Calls the program's handler, if it had one.
pub(crate) fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let before = place(signal).map_or(ptr::null_mut(), |place| place.load(Ordering::Acquire));
    // SAFETY: null, or an action that `handle` leaked.
    let Some(before) = (unsafe { before.as_ref() }) else {
        return;
    };
    let address = before.sa_sigaction;
    if address == libc::SIG_DFL || address == libc::SIG_IGN {
        return;
    }
    if before.sa_flags & libc::SA_SIGINFO != 0 {
        // SAFETY: with this flag, the program has set a function of this type.
        let handler = unsafe { mem::transmute::<usize, Handler>(address) };
        handler(signal, info, context);
    } else {
        // SAFETY: without the flag, the program has set a function of this type.
        let handler = unsafe { mem::transmute::<usize, extern "C" fn(c_int)>(address) };
        handler(signal);
    }
}
