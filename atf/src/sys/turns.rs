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
        // SAFETY: `is_taken` was false, and no other call comes here until it is false again.
        Some(work(unsafe { &mut *self.value.get() }))
    }
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::unwrap_used,
        clippy::arithmetic_side_effects,
        clippy::panic,
        reason = "tests"
    )]

    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::thread;

    use super::*;

    #[test]
    fn no_two_threads_have_a_turn_at_once() {
        const TURNS: u64 = if cfg!(miri) { 100 } else { 100_000 };
        let turns = Turns::new(0_u64);
        let count = || {
            let mut done = 0;
            while done < TURNS {
                // This is a load and a store, between which a second thread could intervene.
                let add = |value: &mut u64| *value += 1;
                done += u64::from(turns.with(add).is_some());
            }
        };
        thread::scope(|scope| {
            scope.spawn(count);
            scope.spawn(count);
        });
        assert_eq!(turns.with(|value| *value), Some(2 * TURNS));
    }

    #[test]
    fn a_value_in_use_is_not_lent_and_a_panic_gives_it_back() {
        let turns = Turns::new(0);
        assert_eq!(turns.with(|_| turns.with(|_| ())), Some(None));
        let panicking = AssertUnwindSafe(|| turns.with(|_| panic!("expected")));
        catch_unwind(panicking).unwrap_err();
        assert_eq!(turns.with(|_| ()), Some(()));
    }
}
