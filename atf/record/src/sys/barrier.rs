//! An asymmetric memory barrier: one thread executes its side often, and the others execute theirs
//! rarely.

use std::sync::atomic::{Ordering, compiler_fence, fence};

/// A memory barrier with two sides. If a thread passes one side between a store and a load, and
/// another thread passes the other side between a store and a load, at least one of the loads sees
/// the other thread's store.
///
/// Usually, both sides need a fence. Linux can make all running threads of a process execute a
/// fence (`membarrier`), so the side that is passed often costs nothing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Barrier {
    is_in_system: bool,
}

impl Barrier {
    /// A barrier that needs no support from the operating system.
    pub(crate) const FENCE: Self = Self {
        is_in_system: false,
    };

    /// Returns the cheapest barrier that the operating system supports. The first call takes
    /// microseconds, or about 10 ms if the process already has several threads.
    pub(crate) fn new() -> Self {
        if system::is_available() {
            Self { is_in_system: true }
        } else {
            Self::FENCE
        }
    }

    /// Passes the side that is passed often.
    #[inline]
    pub(crate) fn often(self) {
        if self.is_in_system {
            compiler_fence(Ordering::SeqCst);
        } else {
            fence(Ordering::SeqCst);
        }
    }

    /// Passes the side that is passed rarely. Returns false if the operating system refused.
    pub(crate) fn rarely(self) -> bool {
        fence(Ordering::SeqCst);
        !self.is_in_system || system::pass()
    }
}

/// The call was added to Linux 4.14 in this form. Android is left out, because some of its
/// releases kill an app that makes an unexpected system call.
#[cfg(all(target_os = "linux", not(miri)))]
mod system {
    use std::sync::OnceLock;

    pub(super) fn is_available() -> bool {
        static IS_AVAILABLE: OnceLock<bool> = OnceLock::new();
        *IS_AVAILABLE.get_or_init(|| call(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED))
    }

    pub(super) fn pass() -> bool {
        call(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED)
    }

    fn call(command: libc::c_int) -> bool {
        // SAFETY: the call takes two more numbers, and accesses no memory.
        unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
    }
}

#[cfg(any(not(target_os = "linux"), miri))]
mod system {
    pub(super) fn is_available() -> bool {
        false
    }

    pub(super) fn pass() -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use std::hint;
    use std::sync::atomic::AtomicU32;
    use std::thread;

    use super::*;

    const ROUNDS: u32 = if cfg!(miri) { 100 } else { 50_000 };

    /// The number of the round that one side has begun, and the last round number that it has
    /// stored.
    #[derive(Debug, Default)]
    struct Side {
        begun: AtomicU32,
        stored: AtomicU32,
    }

    impl Side {
        /// In each round, waits for a different short time, stores the round's number, passes the
        /// barrier and loads what the other side stored. Returns for each round whether it saw the
        /// other side's store.
        fn run(&self, other: &Self, wait: impl Fn(u32) -> u32, pass: impl Fn()) -> Vec<bool> {
            let round = |round| {
                self.begun.store(round, Ordering::Release);
                let mut spins = 0_u32;
                while other.begun.load(Ordering::Acquire) < round {
                    spins = spins.wrapping_add(1);
                    if spins.is_multiple_of(1000) {
                        thread::yield_now();
                    }
                    hint::spin_loop();
                }
                (0..wait(round)).for_each(|_| hint::spin_loop());
                self.stored.store(round, Ordering::Relaxed);
                pass();
                other.stored.load(Ordering::Relaxed) >= round
            };
            (1..=ROUNDS).map(round).collect()
        }
    }

    #[test]
    fn one_side_or_the_other_sees_the_store() {
        for barrier in [Barrier::FENCE, Barrier::new()] {
            let (one, other) = (Side::default(), Side::default());
            let seen = thread::scope(|scope| {
                let often = scope.spawn(|| one.run(&other, |n| n % 8, || barrier.often()));
                let rarely = other.run(&one, |n| n / 8 % 8, || assert!(barrier.rarely()));
                (often.join().unwrap_or_default(), rarely)
            });
            let both = seen.0.iter().zip(&seen.1);
            let missed = both.filter(|(one, other)| !**one && !**other);
            let counts = (missed.count(), seen.0.len());
            assert_eq!(counts, (0, ROUNDS as usize), "{barrier:?}");
        }
    }
}
