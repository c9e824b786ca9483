//! Handles for C: pointers to objects that begin with a tag.
//!
//! The tag contains the kind of handle and whether it is open. The memory of the last
//! [`QUARANTINE`] closed handles is kept, so closing one twice or using it afterwards is detected
//! instead of being undefined behaviour. Handles that were closed earlier and pointers that were
//! never handles cannot be detected.

use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::sync::{Mutex, PoisonError};

use crate::boundary;
use crate::memory::{output, put};
use crate::status::{AtfStatus, Failure, Outcome};
use crate::tag::{NotOpen, Tag};

/// The number of closed handles that are kept.
pub const QUARANTINE: usize = 1024;

/// A type whose objects have handles in C.
pub trait Object {
    /// The tag of an open handle. Each kind has a different tag.
    const TAG: u64;
    /// The name of the handle's C type.
    const NAME: &'static str;
}

/// An object with its tag. C code has only pointers to it.
///
/// The tag is readable while the memory is kept. The object exists until the tag is closed; the
/// thread that closes the tag takes the object.
#[repr(C)]
#[derive(Debug)]
pub struct Handle<T> {
    tag: Tag,
    object: UnsafeCell<MaybeUninit<T>>,
}

impl<T: Object> Handle<T> {
    /// Creates a handle for C; [`close`] takes the object back.
    pub(crate) fn give(object: T) -> *mut Self {
        Box::into_raw(Box::new(Self {
            tag: Tag::new(T::TAG),
            object: UnsafeCell::new(MaybeUninit::new(object)),
        }))
    }
}

/// Creates an object and writes its handle to `place`; null on failure.
///
/// # Safety
///
/// `place` is null or valid for writing a pointer.
pub(crate) unsafe fn give<T: Object>(
    place: *mut *mut Handle<T>,
    make: impl FnOnce() -> Outcome<T>,
) -> Outcome<()> {
    output(place, T::NAME)?;
    // SAFETY: not null, so the caller guarantees that a pointer can be written.
    unsafe { put(place, std::ptr::null_mut()) };
    let made = Handle::give(make()?);
    // SAFETY: as above.
    unsafe { put(place, made) };
    Ok(())
}

/// Accesses an object that several threads may read.
///
/// # Safety
///
/// `handle` is null, an open or quarantined handle, or a pointer to at least 8 readable bytes.
/// During the call, no other thread closes it or uses it through [`with_mut`].
#[inline]
pub(crate) unsafe fn with<T: Object + Sync, R>(
    handle: *const Handle<T>,
    body: impl FnOnce(&T) -> Outcome<R>,
) -> Outcome<R> {
    // SAFETY: guaranteed by this function's caller.
    let handle = unsafe { open(handle) }?;
    // SAFETY: the tag proves that the object exists; the caller guarantees that no thread changes
    // it.
    guarded(handle, |object| body(unsafe { &*object }))
}

/// Returns what `body` returns, or `fallback` on failure.
///
/// # Safety
///
/// As for [`with`].
pub(crate) unsafe fn value<T: Object + Sync, R>(
    handle: *const Handle<T>,
    fallback: R,
    body: impl FnOnce(&T) -> Outcome<R>,
) -> R {
    // SAFETY: guaranteed by this function's caller.
    boundary::value(fallback, || unsafe { with(handle, body) })
}

/// Writes what `body` returns to `place`, which must not be null. `what` names it in the message if
/// it is.
///
/// # Safety
///
/// As for [`with`]; `place` is null or valid for writing an `R`.
pub(crate) unsafe fn fill<T: Object + Sync, R>(
    handle: *const Handle<T>,
    place: *mut R,
    what: &str,
    body: impl FnOnce(&T) -> Outcome<R>,
) -> AtfStatus {
    let body = |this: &T| {
        output(place, what)?;
        body(this)
    };
    // SAFETY: guaranteed by this function's caller.
    let body = || unsafe { with(handle, body) };
    // SAFETY: guaranteed by this function's caller.
    unsafe { boundary::offer_quickly(place, body) }
}

/// Creates an object from another one, and writes its handle to `place`; null on failure.
///
/// # Safety
///
/// As for [`with`] and [`give`].
pub(crate) unsafe fn derive<T: Object + Sync, U: Object>(
    handle: *const Handle<T>,
    place: *mut *mut Handle<U>,
    make: impl FnOnce(&T) -> Outcome<U>,
) -> AtfStatus {
    // SAFETY: guaranteed by this function's caller.
    let make = || unsafe { with(handle, make) };
    // SAFETY: guaranteed by this function's caller.
    boundary::status(|| unsafe { give(place, make) })
}

/// Like [`with`], but for a body that cannot fail.
///
/// # Safety
///
/// As for [`with`].
pub(crate) unsafe fn act<T: Object + Sync>(
    handle: *const Handle<T>,
    body: impl FnOnce(&T),
) -> Outcome<()> {
    let body = |this: &T| {
        body(this);
        Ok(())
    };
    // SAFETY: guaranteed by this function's caller.
    unsafe { with(handle, body) }
}

/// Accesses an object that only one thread uses at a time.
///
/// # Safety
///
/// The same as for [`with`]; also, no other thread may use the handle during the call.
#[inline]
pub(crate) unsafe fn with_mut<T: Object, R>(
    handle: *const Handle<T>,
    body: impl FnOnce(&mut T) -> Outcome<R>,
) -> Outcome<R> {
    // SAFETY: guaranteed by this function's caller.
    let handle = unsafe { open(handle) }?;
    // SAFETY: the tag proves that the object exists; the caller guarantees that no other thread
    // uses it.
    guarded(handle, |object| body(unsafe { &mut *object }))
}

/// Closes a handle and takes its object. Returns `None` for null, and if a panic left the object
/// inconsistent, so that it can only be dropped.
///
/// # Safety
///
/// As for [`with_mut`].
pub(crate) unsafe fn close<T: Object>(handle: *mut Handle<T>) -> Outcome<Option<T>> {
    if handle.is_null() {
        return Ok(None);
    }
    // SAFETY: guaranteed by this function's caller.
    let tag = unsafe { tag(handle) }?;
    let take = || {
        // SAFETY: the tag proves that this is a handle of `T`; its memory is kept at least until
        // `bury` is called.
        let object = unsafe { (*handle).object.get() };
        // SAFETY: the object existed, and because the tag is now closed, no other thread accesses
        // it.
        unsafe { object.cast::<T>().read() }
    };
    // If two threads close the handle at once, only one takes the object.
    let (object, is_spoilt) = tag.close(T::TAG, take).map_err(not_open::<T>)?;
    bury(handle);
    Ok((!is_spoilt).then_some(object))
}

/// Returns the open handle at a pointer.
///
/// # Safety
///
/// As for [`with`], except for the rules about other users.
#[inline]
unsafe fn open<'a, T: Object>(handle: *const Handle<T>) -> Outcome<&'a Handle<T>> {
    // SAFETY: guaranteed by this function's caller.
    let tag = unsafe { tag(handle) }?;
    tag.check_open(T::TAG).map_err(not_open::<T>)?;
    // SAFETY: only `give` writes this tag, before an object of this type; the caller guarantees
    // that the handle is not closed during its use.
    Ok(unsafe { &*handle })
}

/// Returns the tag at a pointer.
///
/// # Safety
///
/// As for [`open`].
#[inline]
unsafe fn tag<'a, T: Object>(handle: *const Handle<T>) -> Outcome<&'a Tag> {
    if handle.is_null() {
        return Err(null::<T>());
    }
    let tag = handle.cast::<Tag>();
    if !tag.is_aligned() {
        return Err(not_open::<T>(NotOpen::Other));
    }
    // SAFETY: it is aligned, and the caller guarantees that 8 bytes can be read there. They are the
    // tag of an open or quarantined handle, because `repr(C)` puts the tag first, or other memory
    // of the program.
    Ok(unsafe { &*tag })
}

/// Passes a handle's object to `body`. If `body` panics, the handle becomes unusable.
#[inline]
fn guarded<T: Object, R>(handle: &Handle<T>, body: impl FnOnce(*mut T) -> R) -> R {
    let spoil = Spoil(handle);
    let result = body(handle.object.get().cast());
    std::mem::forget(spoil);
    result
}

/// A guard that marks a handle as spoilt when a panic unwinds past the guard.
struct Spoil<'a, T: Object>(&'a Handle<T>);

impl<T: Object> Drop for Spoil<'_, T> {
    #[cold]
    fn drop(&mut self) {
        self.0.tag.spoil(T::TAG);
    }
}

#[cold]
fn null<T: Object>() -> Failure {
    Failure::new(AtfStatus::Argument, format!("the {} is null", T::NAME))
}

#[cold]
fn not_open<T: Object>(why: NotOpen) -> Failure {
    let name = T::NAME;
    match why {
        NotOpen::Closed => Failure::new(AtfStatus::Handle, format!("this {name} is closed")),
        NotOpen::Spoilt => Failure::new(
            AtfStatus::Panic,
            format!("this {name} is unusable after a bug in the library and can only be closed"),
        ),
        NotOpen::Other => Failure::new(AtfStatus::Handle, format!("not a handle of type {name}")),
    }
}

/// The memory of a closed handle, and the function that frees it.
struct Grave {
    memory: *mut (),
    free: unsafe fn(*mut ()),
}

// SAFETY: the memory contains only a tag, which is atomic, and no object; only the owner of the
// grave frees it.
unsafe impl Send for Grave {}

static GRAVES: Mutex<VecDeque<Grave>> = Mutex::new(VecDeque::new());

/// Keeps a closed handle's memory in quarantine.
fn bury<T>(handle: *mut Handle<T>) {
    let grave = Grave {
        memory: handle.cast(),
        free: free::<T>,
    };
    let oldest = {
        let mut graves = GRAVES.lock().unwrap_or_else(PoisonError::into_inner);
        graves.push_back(grave);
        let is_full = graves.len() > QUARANTINE;
        is_full.then(|| graves.pop_front()).flatten()
    };
    if let Some(grave) = oldest {
        // SAFETY: `memory` and `free` come from the same type's `bury`. The grave is not copied and
        // has left the queue, so its memory is freed only once.
        unsafe { (grave.free)(grave.memory) };
    }
}

/// # Safety
///
/// `memory` is a `Handle<T>` from [`Handle::give`] whose object was taken.
unsafe fn free<T>(memory: *mut ()) {
    // SAFETY: `give` allocated it with `Box::new`. `MaybeUninit` drops no object.
    drop(unsafe { Box::from_raw(memory.cast::<Handle<T>>()) });
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic, clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::boundary;
    use std::sync::Arc;

    struct One(#[expect(dead_code, reason = "counted by its drop")] Arc<()>);
    struct Other;

    impl Object for One {
        const TAG: u64 = u64::from_be_bytes(*b"test ONE");
        const NAME: &'static str = "One";
    }

    impl Object for Other {
        const TAG: u64 = u64::from_be_bytes(*b"test TWO");
        const NAME: &'static str = "Other";
    }

    fn use_of(handle: *const Handle<One>) -> AtfStatus {
        // SAFETY: the tests pass only handles, and use each one on a single thread.
        boundary::status(|| unsafe { with_mut(handle, |_| Ok(())) })
    }

    fn close_of(handle: *mut Handle<One>) -> AtfStatus {
        // SAFETY: as above.
        boundary::status(|| unsafe { close(handle) }.map(drop))
    }

    #[test]
    fn a_handle_is_checked_for_its_kind_and_state() {
        let one = Handle::give(One(Arc::new(())));
        let other = Handle::give(Other);
        assert_eq!(use_of(one), AtfStatus::Ok);
        assert_eq!(use_of(other.cast()), AtfStatus::Handle);
        assert_eq!(use_of(std::ptr::null()), AtfStatus::Argument);
        assert_eq!(
            use_of(one.cast::<u8>().wrapping_add(1).cast()),
            AtfStatus::Handle
        );
        assert_eq!(close_of(one), AtfStatus::Ok);
        assert_eq!(use_of(one), AtfStatus::Handle);
        assert_eq!(close_of(one), AtfStatus::Handle);
        assert_eq!(close_of(other.cast()), AtfStatus::Handle);
        assert_eq!(close_of(std::ptr::null_mut()), AtfStatus::Ok);
        // SAFETY: it is open.
        assert!(unsafe { close(other) }.is_ok());
    }

    #[test]
    fn closing_drops_the_object_once() {
        let shared = Arc::new(());
        let handle = Handle::give(One(Arc::clone(&shared)));
        assert_eq!(Arc::strong_count(&shared), 2);
        close_of(handle);
        close_of(handle);
        assert_eq!(Arc::strong_count(&shared), 1);
    }

    #[test]
    fn a_panic_makes_the_handle_in_use_unusable() {
        let shared = Arc::new(());
        let handle = Handle::give(One(Arc::clone(&shared)));
        // SAFETY: as above.
        let body = || unsafe { with_mut(handle, |_| panic!("planned")) };
        assert_eq!(boundary::status(body), AtfStatus::Panic);
        assert_eq!(use_of(handle), AtfStatus::Panic);
        assert_eq!(close_of(handle), AtfStatus::Ok);
        assert_eq!(Arc::strong_count(&shared), 1);
        assert_eq!(use_of(handle), AtfStatus::Handle);
    }

    #[test]
    fn closed_handles_do_not_accumulate() {
        for _ in 0..QUARANTINE * 2 {
            close_of(Handle::give(One(Arc::new(()))));
        }
        assert!(GRAVES.lock().unwrap().len() <= QUARANTINE);
    }
}
