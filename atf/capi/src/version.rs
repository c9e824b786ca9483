//! The library's version.

use std::ffi::{CStr, c_char};

const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => panic!("a version has no NUL"),
    };

/// Returns the version of the linked library; `ATF_VERSION` is the header's.
#[unsafe(no_mangle)]
pub extern "C" fn atf_version() -> *const c_char {
    VERSION.as_ptr()
}
