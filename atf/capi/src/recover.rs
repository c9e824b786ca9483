//! Turning a crashed session into a finalized one beside it.

use std::ffi::{CString, c_char};
use std::mem::size_of;

use atf::manifest::Manifest;
use atf::rewrite::{RecoverOptions, recover};
use atf::write::Durability;

use crate::boundary;
use crate::memory::{self, Plain, argument, get_sized, put};
use crate::status::{AtfStatus, Failure, Outcome, c_string};

/// `AtfRecoverOptions`: 0 stands for the default of each member.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct AtfRecoverOptions {
    /// `sizeof(AtfRecoverOptions)` as the caller knows it.
    pub struct_size: u32,
    /// Not 0: looks behind holes and damage too.
    pub salvage: u8,
    /// `ATF_DURABILITY_*`.
    pub durability: u8,
    /// 0.
    pub reserved: [u8; 2],
    /// A `manifest.json` of another run to take modules and symbols from; may be null.
    pub symbols_path: *const c_char,
}

const _: () = assert!(size_of::<AtfRecoverOptions>() == 8 + size_of::<usize>());

// SAFETY: numbers and a pointer in C's layout; any bytes are a value of a raw pointer.
unsafe impl Plain for AtfRecoverOptions {
    const ZERO: Self = Self {
        struct_size: 0,
        salvage: 0,
        durability: 0,
        reserved: [0; 2],
        symbols_path: std::ptr::null(),
    };
}

/// Recovers the session at `path` into `out`, which must not exist, and tells in JSON what was
/// kept, set aside and dropped.
///
/// # Safety
///
/// The strings and structs are null or valid; `report` is null or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_recover(
    path: *const c_char,
    out: *const c_char,
    options: *const AtfRecoverOptions,
    report: *mut *mut c_char,
) -> AtfStatus {
    boundary::status(|| {
        // SAFETY: as this function's.
        unsafe { put(report, std::ptr::null_mut()) };
        // SAFETY: as this function's.
        let path = unsafe { memory::path(path) }?;
        // SAFETY: as this function's.
        let out = unsafe { memory::path(out) }?;
        // SAFETY: as this function's.
        let options = unsafe { recover_options(options) }?;
        let made = recover(path, out, &options)?;
        if !report.is_null() {
            let json = serde_json::to_vec(&made)
                .map_err(|error| Failure::new(AtfStatus::Format, error.to_string()))?;
            // SAFETY: it is not null, so by the caller's word a place for a pointer.
            unsafe { put(report, c_string(&json).into_raw()) };
        }
        Ok(())
    })
}

/// # Safety
///
/// `options` is null, or begins with its size in bytes and has as many, with a valid path.
unsafe fn recover_options(options: *const AtfRecoverOptions) -> Outcome<RecoverOptions<'static>> {
    // SAFETY: as this function's.
    let given = unsafe { get_sized(options) }?.unwrap_or(AtfRecoverOptions::ZERO);
    let durability = match given.durability {
        0 => Durability::None,
        1 => Durability::Finalize,
        2 => Durability::EachFlush,
        _ => return Err(argument("durability is no ATF_DURABILITY_*")),
    };
    if given.reserved != [0; 2] {
        return Err(argument("a reserved option is not 0"));
    }
    let symbols = match given.symbols_path.is_null() {
        true => None,
        false => {
            // SAFETY: a string, by the caller's word.
            let path = unsafe { memory::path(given.symbols_path) }?;
            Some(Manifest::open(path)?)
        }
    };
    Ok(RecoverOptions {
        salvage: given.salvage != 0,
        symbols,
        durability,
        ..RecoverOptions::default()
    })
}

/// Frees a string that a function of this library made for its caller; null is allowed.
///
/// # Safety
///
/// `string` is null or such a string, and is freed once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_string_free(string: *mut c_char) {
    if !string.is_null() {
        // SAFETY: `atf_recover` made it with `into_raw`, by the caller's word, and nobody has
        // changed its length.
        drop(unsafe { CString::from_raw(string) });
    }
}
