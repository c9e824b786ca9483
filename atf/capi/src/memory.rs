//! C's memory: strings, arrays and places for results.

use std::ffi::{CStr, c_char};
use std::mem::{MaybeUninit, size_of};
use std::path::Path;

use crate::status::{AtfStatus, Failure, Outcome};

/// A path: on Unix any bytes, elsewhere UTF-8.
///
/// # Safety
///
/// `text` is null, or a string that ends with NUL and does not change meanwhile.
pub(crate) unsafe fn path<'a>(text: *const c_char) -> Outcome<&'a Path> {
    // SAFETY: as this function's.
    let text = unsafe { string(text, "the path is null") }?;
    if text.is_empty() {
        return Err(argument("the path is empty"));
    }
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        Ok(Path::new(std::ffi::OsStr::from_bytes(text.to_bytes())))
    }
    #[cfg(not(unix))]
    {
        let text = text.to_str();
        text.map(Path::new)
            .map_err(|_| argument("the path is not UTF-8"))
    }
}

/// A string.
///
/// # Safety
///
/// As [`path`].
pub(crate) unsafe fn string<'a>(text: *const c_char, if_null: &'static str) -> Outcome<&'a CStr> {
    if text.is_null() {
        return Err(argument(if_null));
    }
    // SAFETY: it is not null, so by the caller's word a string.
    Ok(unsafe { CStr::from_ptr(text) })
}

/// A string that may be absent, which an empty one is too; bytes that are not UTF-8 become U+FFFD.
///
/// # Safety
///
/// As [`path`].
pub(crate) unsafe fn text(text: *const c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: it is not null, so by the caller's word a string.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
    (!text.is_empty()).then(|| text.into_owned())
}

/// An array to read; null only with 0 elements.
///
/// # Safety
///
/// `count` elements that are valid for `T` stand at `data`, and do not change meanwhile.
#[inline]
pub(crate) unsafe fn slice<'a, T>(data: *const T, count: usize) -> Outcome<&'a [T]> {
    if count == 0 {
        return Ok(&[]);
    }
    check_array(data, count)?;
    // SAFETY: it is neither null nor misaligned nor larger than an object can be; the rest is the
    // caller's word.
    Ok(unsafe { std::slice::from_raw_parts(data, count) })
}

/// Bytes to fill, all 0 at first.
///
/// # Safety
///
/// As [`places`].
pub(crate) unsafe fn bytes_mut<'a>(data: *mut u8, count: usize) -> Outcome<&'a mut [u8]> {
    // SAFETY: as this function's.
    let places = unsafe { places(data, count) }?;
    places.fill(MaybeUninit::new(0));
    // SAFETY: each byte was just written.
    Ok(unsafe { places.assume_init_mut() })
}

/// An array to fill.
///
/// # Safety
///
/// `count` elements of `T` can be written at `data`, and nobody else uses them meanwhile.
pub(crate) unsafe fn places<'a, T>(
    data: *mut T,
    count: usize,
) -> Outcome<&'a mut [MaybeUninit<T>]> {
    if count == 0 {
        return Ok(&mut []);
    }
    check_array(data.cast_const(), count)?;
    // SAFETY: it is a place for `count` elements, by the checks and the caller's word, whatever
    // stands there.
    Ok(unsafe { std::slice::from_raw_parts_mut(data.cast(), count) })
}

/// Writes a result, where the caller wants it: null is allowed.
///
/// # Safety
///
/// `place` is null or a place for a `T`.
#[inline]
pub(crate) unsafe fn put<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: it is a place for a `T`; that it is aligned does not matter.
        unsafe { place.write_unaligned(value) };
    }
}

/// A place for a result that the caller must want.
#[inline]
pub(crate) fn required<T>(place: *mut T, what: &'static str) -> Outcome<()> {
    match place.is_null() {
        false => Ok(()),
        true => Err(argument(what)),
    }
}

/// Writes a struct that may have grown since the caller was compiled: as many bytes as both sides
/// know, and zeros into what this library does not know.
///
/// # Safety
///
/// `place` is null or a place for `size` bytes.
pub(crate) unsafe fn put_sized<T: Plain>(place: *mut T, size: usize, value: &T) -> Outcome<()> {
    required(place, "the struct to fill is null")?;
    if size > MOST_SIZED {
        return Err(argument("the struct's size is none: pass sizeof"));
    }
    let known = size.min(size_of::<T>());
    let place = place.cast::<u8>();
    // SAFETY: the caller says that `size` bytes can be written there.
    unsafe { place.write_bytes(0, size) };
    // SAFETY: `known` is at most the size of both; C's memory and the local value do not overlap.
    unsafe { std::ptr::copy_nonoverlapping(std::ptr::from_ref(value).cast(), place, known) };
    Ok(())
}

/// Reads a struct whose first member is its size in bytes, as its caller knows it: members that
/// the caller does not know are 0. `None` for null.
///
/// # Safety
///
/// `place` is null, or begins with a `u32` and has as many bytes as that says.
pub(crate) unsafe fn get_sized<T: Plain>(place: *const T) -> Outcome<Option<T>> {
    if place.is_null() {
        return Ok(None);
    }
    // SAFETY: it begins with a u32 by the caller's word; that it is aligned does not matter.
    let size = unsafe { place.cast::<u32>().read_unaligned() } as usize;
    if !(size_of::<u32>()..=MOST_SIZED).contains(&size) {
        return Err(argument("struct_size is none: set it to sizeof"));
    }
    let mut value = T::ZERO;
    let known = size.min(size_of::<T>());
    let (from, to) = (place.cast::<u8>(), std::ptr::from_mut(&mut value).cast());
    // SAFETY: `known` is at most the size of both, and any bytes are a value of a plain type.
    unsafe { std::ptr::copy_nonoverlapping(from, to, known) };
    let rest = size.saturating_sub(known);
    // SAFETY: `rest` bytes follow, by the size that the caller states.
    let unknown = unsafe { slice(from.wrapping_add(known), rest) }?;
    if unknown.iter().any(|byte| *byte != 0) {
        return Err(argument(
            "an option is set that this library is too old for",
        ));
    }
    Ok(Some(value))
}

/// More than any struct of this library has, ever.
const MOST_SIZED: usize = 4096;

/// A struct of numbers and pointers that C and Rust share.
///
/// # Safety
///
/// `repr(C)`, and any bytes are a value of it.
pub(crate) unsafe trait Plain: Copy {
    /// All members 0.
    const ZERO: Self;
}

fn check_array<T>(data: *const T, count: usize) -> Outcome<()> {
    if data.is_null() {
        return Err(argument("the array is null"));
    }
    if !data.is_aligned() {
        return Err(argument("the array is not aligned"));
    }
    let bytes = count.checked_mul(size_of::<T>());
    match bytes.is_some_and(|bytes| isize::try_from(bytes).is_ok()) {
        true => Ok(()),
        false => Err(argument("the array is larger than memory can be")),
    }
}

/// Refuses reserved members that are not 0: the caller expects a later version, or did not initialize them.
pub(crate) fn reserved_are_0(are: bool) -> Outcome<()> {
    match are {
        true => Ok(()),
        false => Err(argument("a reserved member is not 0")),
    }
}

#[cold]
pub(crate) fn argument(message: &'static str) -> Failure {
    Failure::new(AtfStatus::Argument, message)
}
