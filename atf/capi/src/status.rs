//! Status codes, and the last failure of each thread.

use std::borrow::Cow;
use std::cell::RefCell;
use std::ffi::{CString, c_char, c_int};
use std::io;

use atf::{Error, ErrorKind};
use atf_record::Lost;

/// Defines the statuses: each with its number, and its name in C.
macro_rules! statuses {
    ($($(#[$doc:meta])* $status:ident = $number:literal, $name:literal;)*) => {
        /// The result of a function: 0 on success, else the reason for the failure.
        #[repr(C)]
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum AtfStatus {
            $($(#[$doc])* $status = $number,)*
        }

        /// Returns the name of a status as in the header, `ATF_OK` for 0. Never returns null.
        #[unsafe(no_mangle)]
        pub extern "C" fn atf_status_name(status: c_int) -> *const c_char {
            let name = match status {
                $($number => $name,)*
                _ => c"unknown status",
            };
            name.as_ptr()
        }
    };
}

statuses! {
    /// Success.
    Ok = 0, c"ATF_OK";
    /// There is nothing to return: no event at this position, or no detail for this event. Not an
    /// error, and not recorded as one.
    None = 1, c"ATF_NONE";
    /// An argument is null, out of range or an invalid pointer.
    Argument = 2, c"ATF_ERROR_ARGUMENT";
    /// The pointer is not a handle of this kind, or the handle is already closed.
    Handle = 3, c"ATF_ERROR_HANDLE";
    /// The call is not allowed in this state: already finalized, still being written, or in a
    /// forked child.
    State = 4, c"ATF_ERROR_STATE";
    /// The operating system reported an error.
    Io = 5, c"ATF_ERROR_IO";
    /// The file is malformed.
    Format = 6, c"ATF_ERROR_FORMAT";
    /// The event is rejected: its time goes backwards, its kind is unknown, or a number does not
    /// fit.
    Refused = 7, c"ATF_ERROR_REFUSED";
    /// The link does not match the counters, or is dangling.
    Link = 8, c"ATF_ERROR_LINK";
    /// The file is full, or a payload is larger than the limit.
    Limit = 9, c"ATF_ERROR_LIMIT";
    /// The file, folder or thread to create already exists.
    Exists = 10, c"ATF_ERROR_EXISTS";
    /// There is no such file, folder or thread.
    NotFound = 11, c"ATF_ERROR_NOT_FOUND";
    /// The caller's buffer is too small.
    Buffer = 12, c"ATF_ERROR_BUFFER";
    /// A bug in this library; the handle can only be closed.
    Panic = 13, c"ATF_ERROR_PANIC";
    /// There are no more events, but some that were written are missing or changed.
    Damaged = 14, c"ATF_ERROR_DAMAGED";
    /// Reserved details were never written.
    Lost = 15, c"ATF_ERROR_LOST";
    /// An event and its detail were not recorded, and were counted as lost. Not an error.
    LostEvent = 16, c"ATF_LOST_EVENT";
    /// The event was recorded; its detail was not, and was counted as lost. Not an error.
    LostDetail = 17, c"ATF_LOST_DETAIL";
    /// The event's time goes backwards or its kind is unknown, so it was not recorded, and was
    /// counted as lost.
    LostRefused = 18, c"ATF_LOST_REFUSED";
    /// The deadline passed before the call was done. Not an error.
    Timeout = 19, c"ATF_TIMEOUT";
}

impl AtfStatus {
    /// Returns the status's bit in a set of statuses.
    pub(crate) fn bit(self) -> u32 {
        1_u32.wrapping_shl(self as u32)
    }
}

/// A `Result` with a [`Failure`].
pub(crate) type Outcome<T> = Result<T, Failure>;

/// Why a function failed.
#[derive(Debug, Clone)]
pub(crate) enum Failure {
    /// There is nothing to return. Not an error.
    Nothing,
    /// Another outcome that is reported only by its status, without allocating.
    Quiet(AtfStatus),
    /// An error of the library.
    Error(Error),
    /// A problem with the events that were read, reported after the last event.
    Damaged(Error),
    /// A failure that only the C API can detect.
    Own(AtfStatus, Cow<'static, str>),
}

impl From<Lost> for Failure {
    #[cold]
    fn from(lost: Lost) -> Self {
        Self::Quiet(match lost {
            Lost::Detail => AtfStatus::LostDetail,
            Lost::Refused => AtfStatus::LostRefused,
            _ => AtfStatus::LostEvent,
        })
    }
}

impl From<Error> for Failure {
    #[cold]
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl Failure {
    #[cold]
    pub(crate) fn new(status: AtfStatus, message: impl Into<Cow<'static, str>>) -> Self {
        Self::Own(status, message.into())
    }

    pub(crate) fn status(&self) -> AtfStatus {
        match self {
            Self::Nothing => AtfStatus::None,
            Self::Quiet(status) => *status,
            Self::Error(error) => status_of(error.kind()),
            Self::Own(status, _) => *status,
            Self::Damaged(_) => AtfStatus::Damaged,
        }
    }

    /// Records the failure for `atf_last_error_*` on this thread.
    #[cold]
    pub(crate) fn record(self) -> AtfStatus {
        if matches!(self, Self::Nothing | Self::Quiet(_)) {
            return self.status();
        }
        let record = Record::new(self);
        let status = record.status;
        // When a thread ends, its storage for the record may already be gone.
        let _ = LAST.try_with(|last| last.replace(record));
        status
    }
}

/// A failure as strings and numbers for C.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    pub(crate) status: AtfStatus,
    pub(crate) message: CString,
    pub(crate) path: CString,
    pub(crate) field: CString,
    pub(crate) rule: CString,
    pub(crate) offset: u64,
    pub(crate) os_code: i32,
}

/// The value for errors that have no offset in a file.
pub(crate) const NO_OFFSET: u64 = u64::MAX;

impl Record {
    const NONE: fn() -> Self = || Self {
        status: AtfStatus::Ok,
        message: CString::default(),
        path: CString::default(),
        field: CString::default(),
        rule: CString::default(),
        offset: NO_OFFSET,
        os_code: 0,
    };

    #[cold]
    pub(crate) fn new(failure: Failure) -> Self {
        let status = failure.status();
        match failure {
            Failure::Nothing | Failure::Quiet(_) => Self::NONE(),
            Failure::Own(_, message) => Self {
                status,
                message: c_string(message.as_bytes()),
                ..Self::NONE()
            },
            Failure::Error(error) | Failure::Damaged(error) => {
                let path = error.path().map(|path| path.as_os_str().as_encoded_bytes());
                let rule = error.rule().map(|rule| rule.id);
                Self {
                    status,
                    message: c_string(error.to_string().as_bytes()),
                    path: c_string(path.unwrap_or_default()),
                    field: c_string(error.field().unwrap_or_default().as_bytes()),
                    rule: c_string(rule.unwrap_or_default().as_bytes()),
                    offset: error.offset().unwrap_or(NO_OFFSET),
                    os_code: os_code(&error),
                }
            }
        }
    }
}

thread_local! {
    /// The last failure on this thread. It is freed when the thread ends, unless the thread's first
    /// failure is in the destructor of a `pthread_key`: the C library runs these destructors after
    /// those of thread-local variables, so one message leaks. The destructor of a key of our own
    /// could run later, but the number of keys per process is limited, and std has no keys on other
    /// systems. A buffer without a destructor would truncate messages with long paths.
    static LAST: RefCell<Record> = RefCell::new(Record::NONE());
}

/// Returns the status for an error kind. Problems that a reader finds in a file are `Format`.
fn status_of(kind: &ErrorKind) -> AtfStatus {
    match kind {
        ErrorKind::Io(io::ErrorKind::NotFound)
        | ErrorKind::NotASession
        | ErrorKind::NotATrace { .. }
        | ErrorKind::TooDeep
        | ErrorKind::SessionsBelow { .. }
        | ErrorKind::MissingFolder => AtfStatus::NotFound,
        ErrorKind::Io(io::ErrorKind::AlreadyExists) => AtfStatus::Exists,
        ErrorKind::Io(_) | ErrorKind::UnexpectedEnd { .. } => AtfStatus::Io,
        ErrorKind::PayloadTooLarge { .. }
        | ErrorKind::ManifestTooLarge { .. }
        | ErrorKind::LimitReached { .. }
        | ErrorKind::TooManyOpenCalls { .. }
        | ErrorKind::TooManyReservations { .. } => AtfStatus::Limit,
        ErrorKind::TimeGoesBack { .. } | ErrorKind::OutOfRange { .. } => AtfStatus::Refused,
        // Readers report mismatches as data; only a writer returns one as an error.
        ErrorKind::Disagrees { .. } | ErrorKind::NotReserved => AtfStatus::Link,
        ErrorKind::AlreadyFinalized
        | ErrorKind::HasRecording
        | ErrorKind::Forked { .. }
        | ErrorKind::DetailsMissing { .. }
        | ErrorKind::ThreadsNotFinalized { .. } => AtfStatus::State,
        ErrorKind::ThreadHasWriter { .. } | ErrorKind::OutputExists => AtfStatus::Exists,
        // An invalid value in the manifest is an error only if the caller passed it.
        ErrorKind::OutputInside
        | ErrorKind::NeedsRings
        | ErrorKind::SameTrace { .. }
        | ErrorKind::WrongType { .. } => AtfStatus::Argument,
        ErrorKind::Internal { .. } => AtfStatus::Panic,
        _ => AtfStatus::Format,
    }
}

fn os_code(error: &Error) -> i32 {
    let source = std::error::Error::source(error);
    let io = source.and_then(|source| source.downcast_ref::<io::Error>());
    io.and_then(io::Error::raw_os_error).unwrap_or(0)
}

/// Creates a string for C. Text after a NUL would be lost, so each NUL becomes U+FFFD.
pub(crate) fn c_string(bytes: &[u8]) -> CString {
    CString::new(bytes).unwrap_or_else(|_| {
        let parts: Vec<&[u8]> = bytes.split(|byte| *byte == 0).collect();
        CString::new(parts.join("\u{FFFD}".as_bytes())).unwrap_or_default()
    })
}

/// Returns a part of the last failure, or `None` if the thread is ending.
pub(crate) fn with_last<T>(look: impl FnOnce(&Record) -> T) -> Option<T> {
    LAST.try_with(|last| look(&last.borrow())).ok()
}

#[cfg(test)]
pub(crate) fn last_error() -> (AtfStatus, String) {
    LAST.with_borrow(|last| (last.status, last.message.to_string_lossy().into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nul_does_not_truncate_a_message() {
        assert_eq!(c_string(b"a\0b").to_str(), Ok("a\u{FFFD}b"));
        assert_eq!(c_string(b"ab").to_str(), Ok("ab"));
    }

    #[test]
    fn returning_nothing_is_not_recorded_as_an_error() {
        assert_eq!(
            Failure::new(AtfStatus::State, "before").record(),
            AtfStatus::State
        );
        assert_eq!(Failure::Nothing.record(), AtfStatus::None);
        let lost = Failure::from(Lost::Refused);
        assert_eq!(lost.record(), AtfStatus::LostRefused);
        assert_eq!(last_error(), (AtfStatus::State, "before".to_owned()));
    }
}
