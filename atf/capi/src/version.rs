//! The library's version.

use std::ffi::c_char;

/// The version, as a string for C.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");

/// Returns the version of the linked library; `ATF_VERSION` is the header's.
#[unsafe(no_mangle)]
pub extern "C" fn atf_version() -> *const c_char {
    VERSION.as_ptr().cast()
}
