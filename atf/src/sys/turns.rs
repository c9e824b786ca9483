//! A value that two threads take turns using.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};

/// A mutex that never waits: if the value is in use, other threads do not get it. Unlike with the
/// standard library's mutex, unlocking is a plain store, which halves the uncontended cost.
#[derive(Debug)]
pub struct Turns<T> {
    is_taken: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: one thread at a time uses the value, so it need only be `Send`.
unsafe impl<T: Send> Sync for Turns<T> {}

/// A guard that releases the value, even after a panic.
struct Turn<'a>(&'a AtomicBool);

impl Drop for Turn<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl<T> Turns<T> {
    /// Creates a value that is not in use.
    pub const fn new(value: T) -> Self {
        Self {
            is_taken: AtomicBool::new(false),
            value: UnsafeCell::new(value),
        }
    }

    /// Calls `work` with the value, unless the value is in use.
    #[inline]
    pub fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> Option<R> {
        if self.is_taken.swap(true, Ordering::Acquire) {
            return None;
        }
        let _turn = Turn(&self.is_taken);
        // SAFETY: `is_taken` was false, and no other call gets here until it is false again.
        Some(work(unsafe { &mut *self.value.get() }))
    }
}
