//! The last failure of each thread, for C.

use std::ffi::{c_char, c_int};

use crate::boundary;
use crate::status::{AtfStatus, NO_OFFSET, Record, with_last};

/// Returns a part of the last failure. A pointer into it is valid until the next failure on this
/// thread.
fn last<T>(fallback: T, look: impl FnOnce(&Record) -> T) -> T {
    let found = boundary::value(None, || Ok(with_last(look)));
    found.unwrap_or(fallback)
}

/// Returns the status of the last failure on this thread, or `ATF_OK` if nothing failed.
#[unsafe(no_mangle)]
pub extern "C" fn atf_last_error_status() -> AtfStatus {
    last(AtfStatus::Ok, |last| last.status)
}

/// Returns the last failure on this thread as text: file, field, reason, offset. Never returns
/// null.
#[unsafe(no_mangle)]
pub extern "C" fn atf_last_error_message() -> *const c_char {
    last(c"".as_ptr(), |last| last.message.as_ptr())
}

/// Returns the file or folder of the last failure, or "".
#[unsafe(no_mangle)]
pub extern "C" fn atf_last_error_path() -> *const c_char {
    last(c"".as_ptr(), |last| last.path.as_ptr())
}

/// Returns the field of the last failure, for example `header.event_size`, or "".
#[unsafe(no_mangle)]
pub extern "C" fn atf_last_error_field() -> *const c_char {
    last(c"".as_ptr(), |last| last.field.as_ptr())
}

/// Returns the id of the rule that the file of the last failure breaks, for example `ATF-IFTR-001`,
/// or "".
#[unsafe(no_mangle)]
pub extern "C" fn atf_last_error_rule() -> *const c_char {
    last(c"".as_ptr(), |last| last.rule.as_ptr())
}

/// Returns the offset of the last failure in its file, or `ATF_NO_OFFSET`.
#[unsafe(no_mangle)]
pub extern "C" fn atf_last_error_offset() -> u64 {
    last(NO_OFFSET, |last| last.offset)
}

/// Returns the operating system's error code (`errno`) for the last failure, or 0.
#[unsafe(no_mangle)]
pub extern "C" fn atf_last_error_os_code() -> c_int {
    last(0, |last| last.os_code)
}
