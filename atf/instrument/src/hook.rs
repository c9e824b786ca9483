//! The functions that instrumented code calls.

use std::ffi::c_void;

use atf::EventKind;

use crate::thread;

/// Records a call. The compiler calls it at the beginning of each function.
#[unsafe(export_name = "__cyg_profile_func_enter")]
pub extern "C" fn enter(function: *mut c_void, _call_site: *mut c_void) {
    thread::record(function.addr(), EventKind::CALL);
}

/// Records a return. The compiler calls it at the end of each function, also when an exception
/// passes through it.
#[unsafe(export_name = "__cyg_profile_func_exit")]
pub extern "C" fn leave(function: *mut c_void, _call_site: *mut c_void) {
    thread::record(function.addr(), EventKind::RETURN);
}
