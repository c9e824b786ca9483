//! Runs units of work side by side; the results come in the order of the units, as from sequential work.

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

/// The number of results of one unit that may wait for their turn.
const WAITING: usize = 64;

/// Takes the results of a unit. They are dropped once nobody wants more.
pub(crate) struct Results<R>(SyncSender<R>);

impl<R> Results<R> {
    /// Adds a result; waits while too many wait for their turn.
    pub(crate) fn send(&self, result: R) {
        let _ = self.0.send(result);
    }

    /// Adds a result that is dropped if too many wait for their turn.
    pub(crate) fn offer(&self, result: R) {
        let _ = self.0.try_send(result);
    }
}

/// Returns the number of jobs that this machine runs at once.
pub(crate) fn cores() -> NonZero<usize> {
    thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN)
}

/// Runs up to `jobs` units at a time, and passes their results to `take`, on this thread, until it
/// returns false. `produce` passes the units, until it gets false. Units that began are completed.
///
/// Memory does not grow with the number of units: work waits until its results are taken.
pub(crate) fn in_order<U: Send, R: Send>(
    jobs: NonZero<usize>,
    produce: impl FnOnce(&mut dyn FnMut(U) -> bool) + Send,
    work: impl Fn(U, &Results<R>) + Sync,
    mut take: impl FnMut(R) -> bool,
) {
    let ahead = jobs.get().saturating_mul(2);
    // Each unit has its own channel. Channels are drained in the order in which units were queued,
    // and jobs take units in that order too. So a job is already working on the first unfinished
    // unit, and waiting for it cannot deadlock.
    let (queue, queued) = sync_channel::<(U, Results<R>)>(ahead);
    let (order, ordered) = sync_channel::<Receiver<R>>(ahead);
    // Owned by the jobs: if all of them panicked, nobody would wait for them.
    let queued = Arc::new(Mutex::new(queued));
    let (work, is_stopped) = (&work, &AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(move || {
            produce(&mut |unit| {
                let (found, results) = sync_channel(WAITING);
                order.send(results).is_ok() && queue.send((unit, Results(found))).is_ok()
            });
        });
        for _ in 0..jobs.get() {
            let queued = Arc::clone(&queued);
            scope.spawn(move || {
                while let Some((unit, found)) = next(&queued) {
                    if !is_stopped.load(Ordering::Relaxed) {
                        work(unit, &found);
                    }
                }
            });
        }
        drop(queued);
        if !ordered.into_iter().flatten().all(&mut take) {
            is_stopped.store(true, Ordering::Relaxed);
        }
    });
}

/// Returns the next unit, or `None` if there are no more.
fn next<T>(queued: &Mutex<Receiver<T>>) -> Option<T> {
    queued.lock().ok()?.recv().ok()
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    reason = "test code with its own numbers"
)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;

    /// Runs units 0 to 99, which have from none to 200 results each, until `take` returns false.
    fn run(jobs: usize, mut take: impl FnMut(u64) -> bool) -> u64 {
        let begun = AtomicU64::new(0);
        let produce = |take: &mut dyn FnMut(u64) -> bool| {
            let _ = (0..100).all(take);
        };
        let work = |unit: u64, results: &Results<u64>| {
            begun.fetch_add(1, Ordering::Relaxed);
            (0..unit * 37 % 200).for_each(|at| results.send(unit * 1000 + at));
        };
        in_order(NonZero::new(jobs).unwrap(), produce, work, &mut take);
        begun.into_inner()
    }

    #[test]
    fn results_come_in_order_for_any_number_of_jobs() {
        let expected = |unit: u64| (0..unit * 37 % 200).map(move |at| unit * 1000 + at);
        let expected: Vec<_> = (0..100).flat_map(expected).collect();
        for jobs in [1, 2, 3, 16] {
            let mut found = Vec::new();
            let begun = run(jobs, |result| {
                found.push(result);
                true
            });
            assert_eq!((begun, found == expected), (100, true), "{jobs} jobs");
        }
    }

    #[test]
    fn after_the_last_wanted_result_no_more_are_passed_and_few_units_begin() {
        for jobs in [1, 2, 3, 16] {
            let mut found = Vec::new();
            let begun = run(jobs, |result| {
                found.push(result);
                result < 5000
            });
            assert_eq!(found.iter().filter(|result| **result >= 5000).count(), 1);
            // Those before it, and at most those in the queue and at work.
            assert!(begun <= 6 + 3 * jobs as u64 + 1, "{begun} of {jobs} jobs");
        }
    }
}
