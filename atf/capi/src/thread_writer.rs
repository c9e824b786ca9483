//! The object that a thread writer's handle refers to, how its failures are handled, and warnings:
//! failures that S3's functions cannot return, reported to the program by a callback.

use std::cell::Cell;
use std::ffi::{CString, c_char, c_void};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use atf::DetailEventType;
use atf::write::{Detail, Event, ThreadSummary, ThreadWriter};
use atf_record::uncancelled;

use crate::boundary;
use crate::handle::{self, Handle, Object};
use crate::status::{AtfStatus, Failure, Outcome, Record, c_string};

/// `AtfThreadWriter`.
pub type AtfThreadWriter = Handle<Writer>;

/// A thread's writer, its first failure and its warnings.
#[derive(Debug)]
pub struct Writer {
    pub(crate) writer: ThreadWriter,
    /// The first failure, even of a function that returns nothing.
    pub(crate) failure: Option<Box<Record>>,
    /// Warnings not yet reported.
    pub(crate) warnings: Vec<(AtfStatus, CString)>,
    /// The statuses already reported, one bit each.
    reported: u32,
    /// The number of failures that were not reported because their status had already been
    /// reported.
    unreported: u64,
}

impl Object for Writer {
    const TAG: u64 = u64::from_be_bytes(*b"atfWRITE");
    const NAME: &'static str = "AtfThreadWriter";
}

impl Writer {
    pub(crate) fn new(writer: ThreadWriter) -> Self {
        Self {
            writer,
            failure: None,
            warnings: Vec::new(),
            reported: 0,
            unreported: 0,
        }
    }

    /// Writes the detail of event `index_seq`; its type follows from the event's kind. An exception
    /// ends its call like a return and has no type of its own.
    ///
    /// Details are written in the order of their events, so any that were reserved earlier but not
    /// yet written are lost.
    pub(crate) fn write_detail_in_order(
        &mut self,
        index_seq: u64,
        timestamp_ns: u64,
        payload: &[u8],
    ) -> Outcome<()> {
        let reserved = self.writer.reserved_detail(index_seq);
        // A detail that does not match its event is an error, so no other details may be dropped
        // because of it.
        let reserved = reserved.filter(|reserved| reserved.timestamp_ns == timestamp_ns);
        if reserved.is_some() {
            let lost = self.writer.drop_details_before(index_seq)?;
            self.lose(lost);
        }
        let detail = Detail::new(
            reserved.map_or(DetailEventType::FUNCTION_CALL, |reserved| {
                reserved.event_kind.detail_type()
            }),
            payload,
        );
        self.writer.write_detail(index_seq, timestamp_ns, &detail)?;
        Ok(())
    }

    pub(crate) fn finalize(&mut self) -> Outcome<ThreadSummary> {
        let before = self.writer.summary().dropped_details;
        let summary = self.writer.finalize()?;
        self.lose(summary.dropped_details.saturating_sub(before));
        Ok(summary)
    }

    /// Records that reserved details were never written.
    fn lose(&mut self, count: u64) {
        if count > 0 {
            let path = self.writer.path().display();
            let message = match count {
                1 => format!("{path}: a reserved detail was not written"),
                _ => format!("{path}: {count} reserved details were not written"),
            };
            let failure = Failure::new(AtfStatus::Lost, message);
            self.warn(&failure);
            self.keep(failure);
        }
    }

    /// Warns about a failure if it is the first with its status.
    #[cold]
    pub(crate) fn warn(&mut self, failure: &Failure) {
        let bit = failure.status().bit();
        if self.reported & bit == 0 {
            self.reported |= bit;
            let record = Record::new(failure.clone());
            self.warnings.push((record.status, record.message));
        } else {
            self.unreported = self.unreported.saturating_add(1);
        }
    }

    /// Reports how many failures were not reported individually.
    pub(crate) fn warn_of_unreported(&mut self) {
        let unreported = std::mem::take(&mut self.unreported);
        if let Some(first) = self.failure.as_ref().filter(|_| unreported > 0) {
            let path = self.writer.path().display();
            let message = match unreported {
                1 => format!("{path}: 1 more warning like the previous ones"),
                _ => format!("{path}: {unreported} more warnings like the previous ones"),
            };
            self.warnings
                .push((first.status, c_string(message.as_bytes())));
        }
    }

    /// Warns about a failure and keeps it.
    #[cold]
    #[inline(never)]
    pub(crate) fn warn_and_keep(&mut self, failure: Failure) -> Failure {
        self.warn(&failure);
        self.keep(failure)
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn keep(&mut self, failure: Failure) -> Failure {
        if self.failure.is_none() && !matches!(failure, Failure::Nothing) {
            self.failure = Some(Box::new(Record::new(failure.clone())));
        }
        failure
    }
}

/// Accesses a writer and keeps its first failure.
///
/// # Safety
///
/// As for [`handle::with_mut`].
#[inline]
pub(crate) unsafe fn using<R>(
    writer: *mut AtfThreadWriter,
    body: impl FnOnce(&mut Writer) -> Outcome<R>,
) -> Outcome<R> {
    let body = |writer: &mut Writer| body(writer).map_err(|failure| writer.keep(failure));
    // SAFETY: guaranteed by this function's caller.
    unsafe { handle::with_mut(writer, body) }
}

/// Like [`using`], but also reports a failure as a warning.
///
/// # Safety
///
/// As for [`handle::with_mut`].
#[inline]
pub(crate) unsafe fn using_with_warnings<R>(
    writer: *mut AtfThreadWriter,
    warnings: &mut Warnings,
    body: impl FnOnce(&mut Writer) -> Outcome<R>,
) -> Outcome<R> {
    let body = |writer: &mut Writer| {
        let result = body(writer).map_err(|failure| writer.warn_and_keep(failure));
        warnings.take(&mut writer.warnings);
        result
    };
    // SAFETY: guaranteed by this function's caller.
    unsafe { handle::with_mut(writer, body) }
}

/// Writes an event without a detail if its position is below `end` and it fits into the buffer.
/// Otherwise, returns `None` and writes nothing, so that the caller can write the event another way
/// and report any failure.
///
/// # Safety
///
/// As for [`handle::with_mut`].
#[inline]
pub(crate) unsafe fn write_quickly(
    writer: *mut AtfThreadWriter,
    event: &Event,
    end: u64,
) -> Option<u64> {
    let body = |this: &mut Writer| {
        if this.writer.next_index_seq() >= end {
            return Err(Failure::Nothing);
        }
        this.writer.write_buffered(event).ok_or(Failure::Nothing)
    };
    // SAFETY: guaranteed by this function's caller.
    boundary::run_quickly(|| unsafe { handle::with_mut(writer, body) }).ok()
}

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
pub(crate) fn value_with_warnings<T>(
    fallback: T,
    body: impl FnOnce(&mut Warnings) -> Outcome<T>,
) -> T {
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

/// Like [`value_with_warnings`], but for a function that returns a status.
pub(crate) fn status_with_warnings(body: impl FnOnce(&mut Warnings) -> Outcome<()>) -> AtfStatus {
    let mut warnings = Warnings::default();
    let result = boundary::run(|| body(&mut warnings));
    warnings.call();
    boundary::status(|| result)
}
