//! Recovers a crashed session into a finalized copy.

use std::ffi::{CString, c_char};

use atf::manifest::Manifest;
use atf::rewrite::{RecoverOptions, recover};

use crate::boundary;
use crate::memory::{self, Plain, ensure, get_sized, put};
use crate::options::durability;
use crate::status::{AtfStatus, Failure, Outcome, c_string};

/// `AtfRecoverOptions`: how a session is recovered. A value of 0 selects a member's default.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct AtfRecoverOptions {
    /// `sizeof(AtfRecoverOptions)` as compiled into the caller.
    pub struct_size: u32,
    /// If nonzero, recovery also searches past gaps and damaged regions.
    pub salvage: u8,
    /// `ATF_DURABILITY_*`.
    pub durability: u8,
    /// 0.
    pub reserved: [u8; 2],
    /// The path of another run's `manifest.json` to take modules and symbols from; may be null.
    pub symbols_path: *const c_char,
}

// SAFETY: `repr(C)`, and all members are numbers or raw pointers, for which any bytes are valid.
unsafe impl Plain for AtfRecoverOptions {}

/// Recovers the session at `path` into `out`, which must not exist, and returns a JSON report of
/// what was kept, set aside and dropped.
///
/// # Safety
///
/// The strings and structs are null or valid; `report` is null or valid for writing a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_recover(
    path: *const c_char,
    out: *const c_char,
    options: *const AtfRecoverOptions,
    report: *mut *mut c_char,
) -> AtfStatus {
    boundary::status(|| {
        // SAFETY: guaranteed by this function's caller.
        unsafe { put(report, std::ptr::null_mut()) };
        // SAFETY: guaranteed by this function's caller.
        let path = unsafe { memory::path(path) }?;
        // SAFETY: guaranteed by this function's caller.
        let out = unsafe { memory::path(out) }?;
        // SAFETY: guaranteed by this function's caller.
        let options = unsafe { recover_options(options) }?;
        let made = recover(path, out, &options)?;
        if !report.is_null() {
            let json = serde_json::to_vec(&made)
                .map_err(|error| Failure::new(AtfStatus::Format, error.to_string()))?;
            // SAFETY: not null, so the caller guarantees that a pointer can be written.
            unsafe { put(report, c_string(&json).into_raw()) };
        }
        Ok(())
    })
}

/// # Safety
///
/// `options` is null, or begins with its size in bytes and is that large, with a valid path.
unsafe fn recover_options(options: *const AtfRecoverOptions) -> Outcome<RecoverOptions<'static>> {
    // SAFETY: guaranteed by this function's caller.
    let given = unsafe { get_sized(options) }?;
    let durability = durability(given.durability)?;
    ensure(given.reserved == [0; 2], "a reserved option is not 0")?;
    let symbols = if given.symbols_path.is_null() {
        None
    } else {
        // SAFETY: the caller guarantees a string.
        let path = unsafe { memory::path(given.symbols_path) }?;
        Some(Manifest::open(path)?)
    };
    Ok(RecoverOptions::default()
        .salvage(given.salvage != 0)
        .symbols(symbols)
        .durability(durability))
}

/// Frees a string that this library returned to its caller; null is allowed.
///
/// # Safety
///
/// `string` is null or was returned by this library, and is freed only once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_string_free(string: *mut c_char) {
    if !string.is_null() {
        // SAFETY: the caller guarantees that it comes from `atf_recover`, which used `into_raw`,
        // and that its length is unchanged.
        drop(unsafe { CString::from_raw(string) });
    }
}
