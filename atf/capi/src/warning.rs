//! Warnings: failures that S3's functions cannot return, reported to the program by a callback.

use std::cell::Cell;
use std::ffi::{CString, c_char, c_void};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use atf_record::uncancelled;

use crate::boundary;
use crate::status::{AtfStatus, Failure, Outcome, Record};

/// `AtfWarning`.
pub type AtfWarning = unsafe extern "C" fn(*mut c_void, AtfStatus, *const c_char);

#[derive(Clone, Copy)]
struct Callback {
    call: AtfWarning,
    user: *mut c_void,
}

// SAFETY: the pointer is not dereferenced here, only passed back, and the caller of
// `atf_writer_set_warning_callback` guarantees that any thread may receive it.
unsafe impl Send for Callback {}

static CALLBACK: Mutex<Option<Callback>> = Mutex::new(None);

/// The statuses already reported for failures without a writer, one bit each.
static REPORTED: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// Whether this thread is inside the program's callback.
    static IS_CALLING: Cell<bool> = const { Cell::new(false) };
}

/// Sets the callback for failures of S3's functions and for lost details; null removes it.
///
/// # Safety
///
/// `callback` is null, or any thread that uses writers can call it with `user` until it has been
/// replaced and all earlier calls have returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_writer_set_warning_callback(
    callback: Option<AtfWarning>,
    user: *mut c_void,
) {
    let callback = callback.map(|call| Callback { call, user });
    *CALLBACK.lock().unwrap_or_else(PoisonError::into_inner) = callback;
    REPORTED.store(0, Ordering::Relaxed);
}

/// Warnings to report once the function is done and no longer uses a writer.
#[derive(Default)]
pub(crate) struct Warnings {
    list: Vec<(AtfStatus, CString)>,
    /// Whether the warnings come from a writer, which keeps the set of statuses that it has
    /// reported.
    is_of_writer: bool,
}

impl Warnings {
    /// Adds a failure of a function that has no writer yet.
    #[cold]
    pub(crate) fn add(&mut self, failure: Failure) -> Failure {
        self.is_of_writer = true;
        let record = Record::new(failure.clone());
        self.list.push((record.status, record.message));
        failure
    }

    /// Takes the warnings of a writer.
    #[inline]
    pub(crate) fn take(&mut self, warnings: &mut Vec<(AtfStatus, CString)>) {
        self.is_of_writer = true;
        if !warnings.is_empty() {
            self.append(warnings);
        }
    }

    #[cold]
    #[inline(never)]
    fn append(&mut self, warnings: &mut Vec<(AtfStatus, CString)>) {
        self.list.append(warnings);
    }

    /// Calls the program's callback. Failures inside the callback are not reported, to avoid
    /// endless recursion.
    fn call(self) {
        if self.list.is_empty() || IS_CALLING.try_with(Cell::get).unwrap_or(true) {
            return;
        }
        // The lock is released before the call, because the callback may use this library.
        let callback = *CALLBACK.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(Callback { call, user }) = callback else {
            return;
        };
        IS_CALLING.set(true);
        uncancelled(|| {
            for (status, message) in self.list {
                // SAFETY: the program guarantees that any thread may call it with `user`.
                unsafe { call(user, status, message.as_ptr()) };
            }
        });
        IS_CALLING.set(false);
    }
}

/// Like [`boundary::value`], but for a function that may warn. If a call has no writer, each status
/// is reported only once, because a program that passes NULL once probably passes it for every
/// event.
#[inline]
pub(crate) fn value<T>(fallback: T, body: impl FnOnce(&mut Warnings) -> Outcome<T>) -> T {
    let mut warnings = Warnings::default();
    match boundary::run(|| body(&mut warnings)) {
        Ok(value) if warnings.list.is_empty() => value,
        result => report(fallback, warnings, result),
    }
}

/// Reports a function's warnings and failure, if there are any.
#[cold]
#[inline(never)]
fn report<T>(fallback: T, mut warnings: Warnings, result: Outcome<T>) -> T {
    if let Err(failure) = &result
        && !warnings.is_of_writer
    {
        let bit = failure.status().bit();
        if REPORTED.fetch_or(bit, Ordering::Relaxed) & bit == 0 {
            let _ = warnings.add(failure.clone());
        }
    }
    warnings.call();
    // Record the failure after the callback, which may have caused other failures.
    boundary::value(fallback, || result)
}

/// Like [`value`], but for a function that returns a status.
pub(crate) fn status(body: impl FnOnce(&mut Warnings) -> Outcome<()>) -> AtfStatus {
    let mut warnings = Warnings::default();
    let result = boundary::run(|| body(&mut warnings));
    warnings.call();
    boundary::status(|| result)
}
