//! Runs jobs on worker threads and turns panics into faults.

use std::cell::RefCell;
use std::num::NonZero;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::Tally;

thread_local! {
    /// The message of the thread's last panic.
    static LAST_PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Runs all jobs on several threads. `start` creates each thread's own state.
pub(super) fn run<J: Sync, S>(
    threads: NonZero<usize>,
    jobs: &[J],
    start: impl Fn() -> S + Sync,
    one: impl Fn(&J, &mut S, &mut Tally) + Sync,
) -> Tally {
    let next = AtomicUsize::new(0);
    let total = Mutex::new(Tally::default());
    let work = || {
        let mut tally = Tally::default();
        let mut own = start();
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            one(job, &mut own, &mut tally);
        }
        total
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .add(tally);
    };
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|info| {
        LAST_PANIC.with(|last| *last.borrow_mut() = info.to_string());
    }));
    thread::scope(|scope| {
        for _ in 1..threads.get() {
            scope.spawn(work);
        }
        work();
    });
    panic::set_hook(hook);
    total.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `check`, turning a panic into a fault.
pub(super) fn caught<T>(check: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    match panic::catch_unwind(AssertUnwindSafe(check)) {
        Ok(said) => said,
        Err(_) => Err(LAST_PANIC.with(|last| format!("panics: {}", last.borrow()))),
    }
}
