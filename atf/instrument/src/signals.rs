//! Installs signal handlers in a program that may have its own.
//!
//! If the program has a handler for a signal, the new handler keeps that handler's flags and mask.
//! The program thus still decides whether system calls are restarted and which stack handlers run
//! on.

use std::ffi::{c_int, c_void};
use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::process;

pub(crate) type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// The program's own action for each signal. Never freed, because handlers may be using it.
static BEFORE: [AtomicPtr<libc::sigaction>; 65] = [const { AtomicPtr::new(ptr::null_mut()) }; 65];

fn place(signal: c_int) -> Option<&'static AtomicPtr<libc::sigaction>> {
    BEFORE.get(usize::try_from(signal).ok()?)
}

/// Sets a handler, which a forked child inherits.
pub(crate) fn handle(signal: c_int, handler: Handler) {
    let Some(place) = place(signal) else { return };
    let address = handler as *const () as usize;
    let Some(before) = current(signal).filter(|before| before.sa_sigaction != address) else {
        return;
    };
    let mut action = before;
    action.sa_sigaction = address;
    action.sa_flags = if is_function(&before) {
        // Clear the flag that resets the handler after one signal; `pass_on` applies it instead.
        (before.sa_flags | libc::SA_SIGINFO) & !libc::SA_RESETHAND
    } else {
        libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART
    };
    // Store the action before the handler can be called.
    place.store(Box::into_raw(Box::new(before)), Ordering::Release);
    // SAFETY: the call reads the action, whose handler has the type that its flags specify.
    unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) };
}

/// Restores the program's own action for a signal.
pub(crate) fn restore(signal: c_int) {
    let before = place(signal).map_or(ptr::null_mut(), |place| place.load(Ordering::Acquire));
    // SAFETY: zeros are valid, as in `handle`. They mean the default action.
    let default: libc::sigaction = unsafe { mem::zeroed() };
    // SAFETY: null, or an action that `handle` leaked.
    let before = unsafe { before.as_ref() }.unwrap_or(&default);
    // SAFETY: the call reads the action.
    unsafe { libc::sigaction(signal, ptr::from_ref(before), ptr::null_mut()) };
}

fn current(signal: c_int) -> Option<libc::sigaction> {
    // SAFETY: zeros are valid for its numbers and for its signal set, where they mean an empty set.
    let mut action: libc::sigaction = unsafe { mem::zeroed() };
    // SAFETY: the call writes the current action to the last pointer.
    let status = unsafe { libc::sigaction(signal, ptr::null(), &raw mut action) };
    (status == 0).then_some(action)
}

/// Returns whether a signal still has its default action.
pub(crate) fn is_default(signal: c_int) -> bool {
    current(signal).is_some_and(|action| action.sa_sigaction == libc::SIG_DFL)
}

/// Returns whether a signal's handler receives information about the signal. The handler does not
/// receive it if the program set another one in the meantime and later restored this one with
/// `signal`, because `signal` drops the flags.
pub(crate) fn has_information(signal: c_int) -> bool {
    current(signal).is_some_and(|action| action.sa_flags & libc::SA_SIGINFO != 0)
}

/// Returns whether [`pass_on`] would call a handler of the program.
pub(crate) fn has_handler(signal: c_int) -> bool {
    own(signal).is_some()
}

/// Returns the program's own action for a signal if it is a handler.
fn own(signal: c_int) -> Option<&'static libc::sigaction> {
    // SAFETY: null, or an action that `handle` leaked.
    let before = unsafe { place(signal)?.load(Ordering::Acquire).as_ref() };
    before.filter(|before| is_function(before))
}

/// Calls the program's own handler. Returns false if the program has none.
pub(crate) fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) -> bool {
    let (Some(place), Some(before)) = (place(signal), own(signal)) else {
        return false;
    };
    if before.sa_flags & libc::SA_RESETHAND != 0 {
        if process::is_vforked() {
            // Do not change the memory, which the child shares with its parent: the parent's
            // handler is still set.
            // SAFETY: the call has no preconditions.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        } else {
            place.store(ptr::null_mut(), Ordering::Release);
        }
    }
    let address = before.sa_sigaction;
    if before.sa_flags & libc::SA_SIGINFO != 0 {
        // SAFETY: with this flag, the program's handler is a function of this type.
        let handler = unsafe { mem::transmute::<usize, Handler>(address) };
        handler(signal, info, context);
    } else {
        // SAFETY: without this flag, the program's handler is a function of this type.
        let handler = unsafe { mem::transmute::<usize, extern "C" fn(c_int)>(address) };
        handler(signal);
    }
    true
}

fn is_function(action: &libc::sigaction) -> bool {
    ![libc::SIG_DFL, libc::SIG_IGN].contains(&action.sa_sigaction)
}
