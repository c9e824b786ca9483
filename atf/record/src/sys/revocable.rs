//! A value that one thread uses until another takes it away.

use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use atf::internal::Turns;

use super::barrier::Barrier;

/// Creates a value that its [`Holder`] uses until a [`Revoker`] takes it.
///
/// Using the value requires no atomic read-modify-write and, where the system supports a
/// [`Barrier`], no fence.
pub(crate) fn revocable<T>(value: T) -> (Holder<T>, Revoker<T>) {
    with_barrier(value, Barrier::new())
}

fn with_barrier<T>(value: T, barrier: Barrier) -> (Holder<T>, Revoker<T>) {
    let shared = Arc::new(Shared {
        is_in_use: AtomicBool::new(false),
        is_revoked: AtomicBool::new(false),
        barrier,
        revoking: Turns::new(()),
        value: UnsafeCell::new(Some(value)),
    });
    (Holder(Arc::clone(&shared)), Revoker(shared))
}

#[derive(Debug)]
struct Shared<T> {
    /// Whether the holder is using the value, or about to check whether it may.
    is_in_use: AtomicBool,
    /// Whether the holder may no longer start to use the value.
    is_revoked: AtomicBool,
    barrier: Barrier,
    /// A lock that lets only one revoker at a time take the value.
    revoking: Turns<()>,
    /// `None` once the value has been taken.
    value: UnsafeCell<Option<T>>,
}

// SAFETY: one thread at a time uses the value, so it need only be `Send`.
unsafe impl<T: Send> Sync for Shared<T> {}

/// The only user of the value.
#[derive(Debug)]
pub(crate) struct Holder<T>(Arc<Shared<T>>);

/// A handle that can take the value away from its holder.
#[derive(Debug)]
pub(crate) struct Revoker<T>(Arc<Shared<T>>);

/// The value could not be taken because it is in use. The holder cannot start using it again.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct InUse;

/// A guard that ends a use of the value, even after a panic.
struct Use<'a>(&'a AtomicBool);

impl Drop for Use<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl<T> Holder<T> {
    /// Calls `work` with the value, unless it was revoked.
    #[inline]
    pub(crate) fn with<R>(&mut self, work: impl FnOnce(&mut T) -> R) -> Option<R> {
        let shared = &*self.0;
        shared.is_in_use.store(true, Ordering::Relaxed);
        let _use = Use(&shared.is_in_use);
        shared.barrier.often();
        if shared.is_revoked.load(Ordering::Relaxed) {
            return None;
        }
        // SAFETY: there is one holder, borrowed mutably. A revoker sets `is_revoked`, passes the
        // barrier, and only then reads `is_in_use`. This thread set `is_in_use`, passed the
        // barrier, and found `is_revoked` unset. So the revoker sees that the value is in use and
        // leaves it alone until `Use` is dropped.
        let value = unsafe { &mut *shared.value.get() };
        value.as_mut().map(work)
    }
}

impl<T> Revoker<T> {
    /// Takes the value. Returns `None` if it was already taken.
    ///
    /// # Errors
    ///
    /// [`InUse`] if the holder is using the value; the value can be taken later.
    pub(crate) fn revoke(&self) -> Result<Option<T>, InUse> {
        let shared = &*self.0;
        let taken = shared.revoking.with(|()| {
            shared.is_revoked.store(true, Ordering::Relaxed);
            if !shared.barrier.rarely() || shared.is_in_use.load(Ordering::Acquire) {
                return Err(InUse);
            }
            // SAFETY: the holder is not using the value, and its next use will find it revoked (see
            // `Holder::with`). Its last use happened before this load of `is_in_use`, which has
            // acquire ordering. No other revoker is in this closure.
            Ok(unsafe { &mut *shared.value.get() }.take())
        });
        taken.ok_or(InUse)?
    }

    /// Returns whether the holder may no longer use the value.
    pub(crate) fn is_revoked(&self) -> bool {
        self.0.is_revoked.load(Ordering::Relaxed)
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
    fn a_value_is_never_used_and_taken_at_the_same_time() {
        const ROUNDS: u64 = if cfg!(miri) { 20 } else { 20_000 };
        for barrier in [Barrier::new(), Barrier::FENCE] {
            for round in 0..ROUNDS {
                let (mut holder, revoker) = with_barrier((0_u64, 0_u64), barrier);
                let using = thread::spawn(move || {
                    let mut count = 0_u64;
                    let mut add = || {
                        holder.with(|(first, second)| {
                            *first += 1;
                            std::hint::black_box(&mut *first);
                            *second += 1;
                        })
                    };
                    while add().is_some() {
                        count += 1;
                    }
                    count
                });
                (0..round % 100).for_each(|_| std::hint::spin_loop());
                let taken = loop {
                    if let Ok(taken) = revoker.revoke() {
                        break taken.unwrap();
                    }
                };
                let count = using.join().unwrap();
                assert_eq!(taken, (count, count));
            }
        }
    }

    #[test]
    fn a_value_in_use_is_not_taken_and_a_panic_ends_the_use() {
        let (mut holder, revoker) = revocable(7);
        let inside = holder.with(|_| revoker.revoke());
        assert_eq!(inside, Some(Err(InUse)));
        assert_eq!(holder.with(|value| *value), None);

        let (mut holder, revoker) = revocable(7);
        let panicking = AssertUnwindSafe(|| holder.with(|_| panic!("expected")));
        catch_unwind(panicking).unwrap_err();
        assert!(!revoker.is_revoked());
        assert_eq!(holder.with(|value| *value), Some(7));
        assert_eq!(revoker.revoke(), Ok(Some(7)));
        assert_eq!(revoker.revoke(), Ok(None));
        assert!(revoker.is_revoked());
    }
}
