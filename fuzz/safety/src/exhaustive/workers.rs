//! Runs jobs on worker threads and turns panics into faults.

use std::cell::RefCell;
use std::num::NonZero;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::thread;

use super::Tally;

thread_local! {
    /// The message of the thread's last panic, while the thread is in [`caught`].
    static LAST_PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
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
        let mut total = total.lock().unwrap_or_else(PoisonError::into_inner);
        total.add(tally);
    };
    keep_messages();
    thread::scope(|scope| {
        for _ in 1..threads.get() {
            scope.spawn(work);
        }
        work();
    });
    total.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `check`, turning a panic into a fault.
pub(super) fn caught<T>(check: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    LAST_PANIC.set(Some(String::new()));
    let result = panic::catch_unwind(AssertUnwindSafe(check));
    let message = LAST_PANIC.take().unwrap_or_default();
    result.unwrap_or_else(|_| Err(format!("panics: {message}")))
}

/// Keeps the messages of panics in [`caught`] instead of printing them. The hook belongs to the
/// whole process, and several runs may take place at the same time, so it is never removed.
fn keep_messages() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let others = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let is_kept = LAST_PANIC.with_borrow_mut(|last| {
                let message = last.as_mut().map(|last| *last = info.to_string());
                message.is_some()
            });
            if !is_kept {
                others(info);
            }
        }));
    });
}
