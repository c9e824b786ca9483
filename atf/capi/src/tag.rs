//! The state of a handle: open, spoilt or closed. Several threads may read and change it.

use std::sync::atomic::{AtomicU64, Ordering};

const CLOSED: u64 = u64::from_be_bytes(*b"atfCLOSE");
const SPOILT: u64 = u64::from_be_bytes(*b"atfSPOIL");

/// A tag's atomic integer: a real one, or a loom model in tests. [`Tag`] chooses the memory
/// orderings.
pub(crate) trait Word {
    fn load(&self, order: Ordering) -> u64;

    /// Atomically replaces `from` with `to`, and returns whether the value was `from`.
    fn swap(&self, from: u64, to: u64, success: Ordering, failure: Ordering) -> bool;
}

impl Word for AtomicU64 {
    #[inline]
    fn load(&self, order: Ordering) -> u64 {
        self.load(order)
    }

    #[inline]
    fn swap(&self, from: u64, to: u64, success: Ordering, failure: Ordering) -> bool {
        self.compare_exchange(from, to, success, failure).is_ok()
    }
}

/// Why a pointer is not an open handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotOpen {
    /// The handle is closed.
    Closed,
    /// A panic left its object inconsistent.
    Spoilt,
    /// The pointer was never a handle of this kind.
    Other,
}

/// The state of a handle: the number of its kind while it is open, otherwise `CLOSED` or `SPOILT`.
/// The methods' parameter `kind` is the number of the kind that the caller expects.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct Tag<W = AtomicU64>(W);

impl Tag {
    /// Creates the tag of an open handle.
    pub(crate) const fn new(kind: u64) -> Self {
        Self(AtomicU64::new(kind))
    }
}

impl<W: Word> Tag<W> {
    /// Checks that the object exists and is consistent.
    #[inline]
    pub(crate) fn check_open(&self, kind: u64) -> Result<(), NotOpen> {
        match self.0.load(Ordering::Acquire) {
            found if found == kind => Ok(()),
            CLOSED => Err(NotOpen::Closed),
            SPOILT => Err(NotOpen::Spoilt),
            _ => Err(NotOpen::Other),
        }
    }

    /// Closes the handle. If several threads close it, only one takes the object. Returns the
    /// result of `take`, and whether the object is spoilt.
    pub(crate) fn close<R>(
        &self,
        kind: u64,
        take: impl FnOnce() -> R,
    ) -> Result<(R, bool), NotOpen> {
        // The handle is open or spoilt, and a spoilt tag never becomes open again, so no loop is
        // needed.
        let is_spoilt = !self.change(kind, CLOSED);
        if is_spoilt && !self.change(SPOILT, CLOSED) {
            return Err(self.check_open(kind).err().unwrap_or(NotOpen::Other));
        }
        Ok((take(), is_spoilt))
    }

    /// Marks the handle's object as inconsistent. A closed tag stays closed.
    pub(crate) fn spoil(&self, kind: u64) {
        self.change(kind, SPOILT);
    }

    /// Changes the tag atomically. The next thread to change it sees all earlier changes to the
    /// object.
    fn change(&self, from: u64, to: u64) -> bool {
        self.0.swap(from, to, Ordering::AcqRel, Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::sync::atomic;
    use loom::thread;
    use std::panic;
    use std::sync::atomic::AtomicUsize;

    const KIND: u64 = 7;

    impl Word for atomic::AtomicU64 {
        fn load(&self, order: Ordering) -> u64 {
            self.load(order)
        }

        fn swap(&self, from: u64, to: u64, success: Ordering, failure: Ordering) -> bool {
            self.compare_exchange(from, to, success, failure).is_ok()
        }
    }

    /// Deliberately wrong: another thread can intervene between the check and the change.
    struct InTwoSteps(atomic::AtomicU64);

    impl Word for InTwoSteps {
        fn load(&self, order: Ordering) -> u64 {
            self.0.load(order)
        }

        fn swap(&self, from: u64, to: u64, _: Ordering, _: Ordering) -> bool {
            let is_from = self.0.load(Ordering::Acquire) == from;
            if is_from {
                self.0.store(to, Ordering::Release);
            }
            is_from
        }
    }

    /// Deliberately wrong: the thread that takes the object may not see earlier changes to it.
    struct Unordered(atomic::AtomicU64);

    impl Word for Unordered {
        fn load(&self, _: Ordering) -> u64 {
            self.0.load(Ordering::Relaxed)
        }

        fn swap(&self, from: u64, to: u64, _: Ordering, _: Ordering) -> bool {
            Word::swap(&self.0, from, to, Ordering::Relaxed, Ordering::Relaxed)
        }
    }

    /// A handle whose object must be taken only once.
    struct Model<W> {
        tag: Tag<W>,
        object: UnsafeCell<Option<u8>>,
    }

    impl<W: Word> Model<W> {
        /// Changes half of the object and panics.
        fn spoil(&self) {
            // SAFETY: in the models, no other thread uses the object while the tag is open.
            self.object.with_mut(|object| unsafe { *object = Some(2) });
            self.tag.spoil(KIND);
        }

        fn close(&self) -> Result<bool, NotOpen> {
            // SAFETY: the tag proves that only this thread has the object.
            let take = || self.object.with_mut(|object| unsafe { (*object).take() });
            let (object, is_spoilt) = self.tag.close(KIND, take)?;
            assert_eq!(object, Some(if is_spoilt { 2 } else { 1 }), "taken twice");
            Ok(is_spoilt)
        }
    }

    /// Runs `body` in every interleaving of its threads; returns the number of interleavings.
    fn orders<W: Word + 'static>(
        word: fn(atomic::AtomicU64) -> W,
        body: fn(&Arc<Model<W>>),
    ) -> usize {
        static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());
        let _guard = ONE_AT_A_TIME.lock();
        let count = std::sync::Arc::new(AtomicUsize::new(0));
        let counted = std::sync::Arc::clone(&count);
        loom::model(move || {
            counted.fetch_add(1, Ordering::Relaxed);
            body(&Arc::new(Model {
                tag: Tag(word(atomic::AtomicU64::new(KIND))),
                object: UnsafeCell::new(Some(1)),
            }));
        });
        count.load(Ordering::Relaxed)
    }

    /// Three threads close the handle; one gets the object.
    fn three_close<W: Word + 'static>(model: &Arc<Model<W>>) {
        let close = || {
            let model = Arc::clone(model);
            thread::spawn(move || model.close())
        };
        let (first, second) = (close(), close());
        let mut all = [model.close(), first.join().unwrap(), second.join().unwrap()];
        all.sort_by_key(Result::is_err);
        let closed = Err(NotOpen::Closed);
        assert_eq!(all, [Ok(false), closed, closed]);
    }

    /// Two threads close the handle, and one of them spoils it first.
    fn one_spoils<W: Word + 'static>(model: &Arc<Model<W>>) {
        let other = {
            let model = Arc::clone(model);
            thread::spawn(move || {
                model.spoil();
                model.close()
            })
        };
        while model.tag.check_open(KIND).is_ok() {
            thread::yield_now();
        }
        let mut both = [model.close(), other.join().unwrap()];
        both.sort_by_key(Result::is_err);
        assert_eq!(both, [Ok(true), Err(NotOpen::Closed)]);
        model.tag.spoil(KIND);
        assert_eq!(model.tag.check_open(KIND), Err(NotOpen::Closed));
    }

    #[test]
    fn only_one_of_the_threads_that_close_a_handle_gets_its_object() {
        let count = orders(|word| word, three_close);
        assert_eq!(count, 1883);
    }

    #[test]
    fn closing_a_poisoned_handle_sees_all_changes_to_its_object() {
        let count = orders(|word| word, one_spoils);
        assert_eq!(count, 150);
    }

    #[test]
    fn planted_bugs_are_found() {
        let found =
            |run: &(dyn Fn() -> usize + panic::RefUnwindSafe)| panic::catch_unwind(run).is_err();
        assert!(found(&|| orders(InTwoSteps, three_close)));
        assert!(found(&|| orders(Unordered, one_spoils)));
    }
}
