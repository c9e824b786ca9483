//! Memory that belongs to C: strings, arrays and output pointers.

use std::ffi::{CStr, c_char};
use std::mem::{self, MaybeUninit};
use std::path::Path;

use crate::status::{AtfStatus, Failure, Outcome};

/// Reads a path: any bytes on Unix, UTF-8 elsewhere.
///
/// # Safety
///
/// `text` is null, or a NUL-terminated string that does not change during its use.
pub(crate) unsafe fn path<'a>(text: *const c_char) -> Outcome<&'a Path> {
    ensure(!text.is_null(), "the path is null")?;
    // SAFETY: not null, so by contract it points to a valid string.
    let text = unsafe { CStr::from_ptr(text) };
    ensure(!text.is_empty(), "the path is empty")?;
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

/// Reads an optional string. An empty string counts as absent. Bytes that are not UTF-8 become
/// U+FFFD.
///
/// # Safety
///
/// As for [`path`].
pub(crate) unsafe fn text(text: *const c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: not null, so by contract it points to a valid string.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
    (!text.is_empty()).then(|| text.into_owned())
}

/// Borrows an array for reading. `data` may be null only if `count` is 0.
///
/// # Safety
///
/// `data` points to `count` valid elements of `T`, which do not change during the borrow.
#[inline]
pub(crate) unsafe fn slice<'a, T>(data: *const T, count: usize) -> Outcome<&'a [T]> {
    if count == 0 {
        return Ok(&[]);
    }
    check_array(data, count)?;
    // SAFETY: it is not null, aligned, and no larger than an object can be; the caller guarantees
    // the rest.
    Ok(unsafe { std::slice::from_raw_parts(data, count) })
}

/// Borrows bytes for writing, and sets them to 0 first.
///
/// # Safety
///
/// As for [`places`].
pub(crate) unsafe fn bytes_mut<'a>(data: *mut u8, count: usize) -> Outcome<&'a mut [u8]> {
    // SAFETY: guaranteed by this function's caller.
    let places = unsafe { places(data, count) }?;
    places.fill(MaybeUninit::new(0));
    // SAFETY: each byte was just written.
    Ok(unsafe { places.assume_init_mut() })
}

/// Borrows an array for writing.
///
/// # Safety
///
/// `count` elements of `T` can be written at `data`, and no other code uses them during the borrow.
pub(crate) unsafe fn places<'a, T>(
    data: *mut T,
    count: usize,
) -> Outcome<&'a mut [MaybeUninit<T>]> {
    if count == 0 {
        return Ok(&mut []);
    }
    check_array(data.cast_const(), count)?;
    // SAFETY: by the checks and the caller's guarantee, `count` elements can be written there; they
    // may be uninitialized.
    Ok(unsafe { std::slice::from_raw_parts_mut(data.cast(), count) })
}

/// Writes a result, unless the pointer is null.
///
/// # Safety
///
/// `place` is null or valid for writing a `T`.
#[inline]
pub(crate) unsafe fn put<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: a `T` can be written there; it may be unaligned.
        unsafe { place.write_unaligned(value) };
    }
}

/// Requires the output pointer for `what`.
#[inline]
pub(crate) fn output<T>(place: *mut T, what: &str) -> Outcome<()> {
    if place.is_null() {
        return Err(no_output(what));
    }
    Ok(())
}

#[cold]
fn no_output(what: &str) -> Failure {
    let message = format!("the output pointer for the {what} is null");
    Failure::new(AtfStatus::Argument, message)
}

/// Writes a struct that may have a different size in the caller: the members that both sides have,
/// and zeros for members that only the caller has.
///
/// # Safety
///
/// `place` is null or valid for writing `size` bytes.
pub(crate) unsafe fn put_sized<T: Plain>(place: *mut T, size: usize, value: &T) -> Outcome<()> {
    ensure(!place.is_null(), "the struct to fill is null")?;
    check_offer(place, size)?;
    let known = size.min(size_of::<T>());
    let place = place.cast::<u8>();
    // SAFETY: the caller guarantees that `size` bytes can be written there.
    unsafe { place.write_bytes(0, size) };
    // SAFETY: `known` is at most the size of both; C's memory and the local value do not overlap.
    unsafe { std::ptr::copy_nonoverlapping(std::ptr::from_ref(value).cast(), place, known) };
    Ok(())
}

/// Checks the size of a struct to fill, unless `place` is null. A call that cannot be repeated
/// checks this first.
pub(crate) fn check_offer<T>(place: *mut T, size: usize) -> Outcome<()> {
    let is_valid = place.is_null() || (1..=MOST_SIZED).contains(&size);
    ensure(is_valid, "the struct's size is invalid: pass sizeof")
}

/// Like [`put_sized`], but ignores a null `place`.
///
/// # Safety
///
/// As for [`put_sized`].
pub(crate) unsafe fn offer_sized<T: Plain>(place: *mut T, size: usize, value: &T) -> Outcome<()> {
    if place.is_null() {
        return Ok(());
    }
    // SAFETY: guaranteed by this function's caller.
    unsafe { put_sized(place, size, value) }
}

/// Reads a struct that begins with its size in bytes, as compiled into the caller. Members that the
/// caller does not have are 0, and so are all members for null.
///
/// # Safety
///
/// `place` is null, or begins with a `u32` that contains its size in bytes.
pub(crate) unsafe fn get_sized<T: Plain>(place: *const T) -> Outcome<T> {
    if place.is_null() {
        return Ok(T::ZERO);
    }
    // SAFETY: the caller guarantees that it begins with a u32; it may be unaligned.
    let size = unsafe { place.cast::<u32>().read_unaligned() } as usize;
    let is_valid = (size_of::<u32>()..=MOST_SIZED).contains(&size);
    ensure(is_valid, "struct_size is invalid: set it to sizeof")?;
    let mut value = T::ZERO;
    let known = size.min(size_of::<T>());
    let (from, to) = (place.cast::<u8>(), std::ptr::from_mut(&mut value).cast());
    // SAFETY: `known` is at most the size of both, and any bytes are a value of a plain type.
    unsafe { std::ptr::copy_nonoverlapping(from, to, known) };
    let rest = size.saturating_sub(known);
    // SAFETY: `rest` bytes follow, according to the size from the caller.
    let unknown = unsafe { slice(from.wrapping_add(known), rest) }?;
    let message = "an option is set that this version of the library does not support";
    ensure(unknown.iter().all(|byte| *byte == 0), message)?;
    Ok(value)
}

/// A size that no struct of this library will exceed.
const MOST_SIZED: usize = 4096;

/// A struct of numbers and pointers, shared by C and Rust.
///
/// # Safety
///
/// The type is `repr(C)`, and any bytes are a valid value.
pub(crate) unsafe trait Plain: Copy {
    /// A value whose members are all 0.
    // SAFETY: the trait's contract makes any bytes a valid value, including zeros.
    const ZERO: Self = unsafe { mem::zeroed() };
}

fn check_array<T>(data: *const T, count: usize) -> Outcome<()> {
    ensure(!data.is_null(), "the array is null")?;
    ensure(data.is_aligned(), "the array is not aligned")?;
    let bytes = count.checked_mul(size_of::<T>());
    let fits = bytes.is_some_and(|bytes| isize::try_from(bytes).is_ok());
    ensure(fits, "the array is larger than the address space")
}

/// Rejects reserved members that are not 0: the caller expects a later version of the library or
/// did not initialize them.
pub(crate) fn reserved_are_0(are: bool) -> Outcome<()> {
    ensure(are, "a reserved member is not 0")
}

/// Returns a failure with this message unless an argument `is_right`.
#[inline]
pub(crate) fn ensure(is_right: bool, message: &'static str) -> Outcome<()> {
    if is_right {
        Ok(())
    } else {
        Err(argument(message))
    }
}

#[cold]
pub(crate) fn argument(message: &'static str) -> Failure {
    Failure::new(AtfStatus::Argument, message)
}
