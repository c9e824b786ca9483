//! The boundary between C and Rust, which every function crosses: C code receives a status, never a
//! panic, and its thread is not cancelled while it runs Rust code.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use atf_record::uncancelled;

use crate::memory::put;
use crate::status::{AtfStatus, Failure, Outcome};

/// Runs a function's body, and records any failure, including a panic, for `atf_last_error_*`.
#[inline]
pub(crate) fn status(body: impl FnOnce() -> Outcome<()>) -> AtfStatus {
    uncancelled(|| status_quickly(body))
}

/// Like [`status`], but for a [quick](run_quickly) function.
#[inline]
pub(crate) fn status_quickly(body: impl FnOnce() -> Outcome<()>) -> AtfStatus {
    run_quickly(body).map_or_else(Failure::record, |()| AtfStatus::Ok)
}

/// Like [`status`], but for a function that returns a value. Returns `fallback` on failure.
#[inline]
pub(crate) fn value<T>(fallback: T, body: impl FnOnce() -> Outcome<T>) -> T {
    uncancelled(|| value_quickly(fallback, body))
}

/// Like [`value`], but for a [quick](run_quickly) function.
#[inline]
pub(crate) fn value_quickly<T>(fallback: T, body: impl FnOnce() -> Outcome<T>) -> T {
    run_quickly(body).unwrap_or_else(|failure| {
        failure.record();
        fallback
    })
}

/// Like [`status`], but writes the body's result to `place`, unless `place` is null.
///
/// # Safety
///
/// `place` is null or valid for writing a `T`.
#[inline]
pub(crate) unsafe fn offer<T>(place: *mut T, body: impl FnOnce() -> Outcome<T>) -> AtfStatus {
    // SAFETY: guaranteed by this function's caller.
    status(|| body().map(|value| unsafe { put(place, value) }))
}

/// Like [`offer`], but for a [quick](run_quickly) function.
///
/// # Safety
///
/// As for [`offer`].
#[inline]
pub(crate) unsafe fn offer_quickly<T>(
    place: *mut T,
    body: impl FnOnce() -> Outcome<T>,
) -> AtfStatus {
    // SAFETY: guaranteed by this function's caller.
    status_quickly(|| body().map(|value| unsafe { put(place, value) }))
}

/// Runs a function's body with the thread's cancellation disabled.
#[inline]
pub(crate) fn run<T>(body: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
    uncancelled(|| run_quickly(body))
}

/// Like [`run`], but for functions that take only a few nanoseconds, about as long as disabling the
/// thread's cancellation: they read the clock, pass an event without a detail to a recording or to a
/// writer's buffer, or return an event of an opened file. If a recording writes a full buffer to its
/// file, or waits, and if a reader reads from a file, they disable the cancellation themselves.
#[inline]
pub(crate) fn run_quickly<T>(body: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
    // A panic may leave an object inconsistent, but no later call uses the object: the panic
    // invalidates its handle (`handle::Spoil`).
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|payload| Err(Failure::panic(payload)))
}

impl Failure {
    #[cold]
    fn panic(payload: Box<dyn Any + Send>) -> Self {
        let message = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("no message")
            .to_owned();
        let_go(payload);
        let message = format!("a bug in the library: {message}");
        Self::new(AtfStatus::Panic, message)
    }
}

/// Drops a panic's payload. If that panics too, drops the new panic's payload, and so on, up to a
/// limit.
#[cold]
fn let_go(mut payload: Box<dyn Any + Send>) {
    for _ in 0..3 {
        match catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            Ok(()) => return,
            Err(next) => payload = next,
        }
    }
    std::mem::forget(payload);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic, reason = "the tests are about panics")]

    use super::*;
    use crate::status::last_error;

    use std::sync::Arc;

    struct PanicsForEver;

    impl Drop for PanicsForEver {
        fn drop(&mut self) {
            std::panic::panic_any(Self);
        }
    }

    struct PanicsWhenDropped;

    impl Drop for PanicsWhenDropped {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }

    #[test]
    fn a_panic_becomes_a_status_with_its_message() {
        assert_eq!(status(|| panic!("number {}", 7)), AtfStatus::Panic);
        assert_eq!(last_error().1, "a bug in the library: number 7");
        assert_eq!(value(5, || panic!("plain")), 5);
        assert_eq!(last_error().1, "a bug in the library: plain");
    }

    #[test]
    fn a_payload_that_panics_when_dropped_does_no_harm() {
        let body = || std::panic::panic_any(PanicsWhenDropped);
        assert_eq!(status(body), AtfStatus::Panic);
        let body = || std::panic::panic_any(PanicsForEver);
        assert_eq!(status(body), AtfStatus::Panic);
    }

    #[test]
    fn a_caught_panics_payload_is_freed() {
        let shared = Arc::new(());
        let thrown = Arc::clone(&shared);
        assert_eq!(status(|| std::panic::panic_any(thrown)), AtfStatus::Panic);
        assert_eq!(Arc::strong_count(&shared), 1);
    }
}
