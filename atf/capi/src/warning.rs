//! Warnings: what the functions of S3 cannot return, told to the program as it happens.

use std::cell::Cell;
use std::ffi::{CString, c_char, c_void};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::boundary;
use crate::status::{AtfStatus, Failure, Outcome, Record};
use crate::writer::Writer;

/// `AtfWarning`.
pub type AtfWarning = unsafe extern "C" fn(*mut c_void, AtfStatus, *const c_char);

#[derive(Clone, Copy)]
struct Callback {
    call: AtfWarning,
    user: *mut c_void,
}

// SAFETY: the pointer is not followed here, only handed back, and the caller of
// `atf_writer_set_warning_callback` says that any thread may get it.
unsafe impl Send for Callback {}

static CALLBACK: Mutex<Option<Callback>> = Mutex::new(None);

/// The statuses of failures that no writer could keep, a bit each, and were told.
static TOLD: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// Whether this thread is in the program's function.
    static IS_TELLING: Cell<bool> = const { Cell::new(false) };
}

/// Sets what is called when a function of S3 fails or a writer loses details; null for nothing.
///
/// # Safety
///
/// `callback` is null, or can be called with `user` by any thread that uses writers, until it is
/// replaced and the calls that had begun by then have returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_writer_set_warning_callback(
    callback: Option<AtfWarning>,
    user: *mut c_void,
) {
    let callback = callback.map(|call| Callback { call, user });
    *CALLBACK.lock().unwrap_or_else(PoisonError::into_inner) = callback;
    TOLD.store(0, Ordering::Relaxed);
}

/// What is told when the function has done its work and uses no writer any more.
#[derive(Default)]
pub(crate) struct Warnings {
    list: Vec<(AtfStatus, CString)>,
    /// Whether a writer was at work, which knows what it told before.
    is_of_writer: bool,
}

impl Warnings {
    /// Tells a failure of a function that has no writer yet.
    #[cold]
    pub(crate) fn add(&mut self, failure: Failure) -> Failure {
        self.is_of_writer = true;
        let record = Record::of(failure.clone());
        self.list.push((record.status, record.message));
        failure
    }

    /// Takes those that a writer has.
    pub(crate) fn take(&mut self, writer: &mut Writer) {
        self.is_of_writer = true;
        self.list.append(writer.warnings());
    }

    /// Calls the program. What it does in turn on this thread is no warning: it would be one for ever.
    fn tell(self) {
        if self.list.is_empty() || IS_TELLING.try_with(Cell::get).unwrap_or(true) {
            return;
        }
        // The lock is free again before the call, in which the program may use this library.
        let callback = *CALLBACK.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(Callback { call, user }) = callback else {
            return;
        };
        IS_TELLING.set(true);
        for (status, message) in self.list {
            // SAFETY: whoever set it says that any thread may call it so.
            unsafe { call(user, status, message.as_ptr()) };
        }
        IS_TELLING.set(false);
    }
}

/// As [`boundary::value`] for a function that may have something to tell. Failures of calls without a
/// writer are told once for each status: a program that passes NULL does so for each event.
pub(crate) fn value<T>(fallback: T, body: impl FnOnce(&mut Warnings) -> Outcome<T>) -> T {
    let mut warnings = Warnings::default();
    let result = boundary::run(|| body(&mut warnings));
    if let Err(failure) = &result
        && !warnings.is_of_writer
    {
        let bit = failure.status().bit();
        if TOLD.fetch_or(bit, Ordering::Relaxed) & bit == 0 {
            let _ = warnings.add(failure.clone());
        }
    }
    warnings.tell();
    // After the program was called, which may have failed at something else.
    boundary::value(fallback, || result)
}

/// As [`value`] for a function that returns a status.
pub(crate) fn status(body: impl FnOnce(&mut Warnings) -> Outcome<()>) -> AtfStatus {
    let mut warnings = Warnings::default();
    let result = boundary::run(|| body(&mut warnings));
    warnings.tell();
    boundary::status(|| result)
}
