//! Runs units of work in parallel, and delivers their results in order, as if the units ran
//! sequentially.

use std::cell::RefCell;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Builder};

/// The maximum number of results of one unit that may wait for their turn.
const WAITING: usize = 64;

/// A collector of a unit's results, which discards them once the caller needs no more.
pub(crate) enum Results<'a, R> {
    /// It is not yet the unit's turn: its results wait.
    Waiting(SyncSender<R>),
    /// It is the unit's turn: its results go straight to the caller.
    Taken(RefCell<&'a mut dyn FnMut(R)>),
}

impl<R> Results<'_, R> {
    /// Adds a result. Blocks while too many results are waiting for their turn.
    pub(crate) fn send(&self, result: R) {
        match self {
            Self::Waiting(results) => drop(results.send(result)),
            Self::Taken(take) => take.borrow_mut()(result),
        }
    }

    /// Adds a result, or discards it if too many results are waiting for their turn.
    pub(crate) fn offer(&self, result: R) {
        match self {
            Self::Waiting(results) => drop(results.try_send(result)),
            Self::Taken(_) => self.send(result),
        }
    }
}

/// Returns how many jobs this machine can run at once.
pub(crate) fn cores() -> NonZero<usize> {
    thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN)
}

/// Runs up to `jobs` units at a time, and passes their results to `take` on this thread until
/// `take` returns false. `produce` supplies the units until its callback returns false. Units that
/// have started are always completed.
///
/// Memory use does not grow with the number of units: work waits until its results are taken. With
/// a single job, or if the system cannot create threads, the work runs on this thread.
pub(crate) fn in_order<U: Send, R: Send>(
    jobs: NonZero<usize>,
    produce: impl FnOnce(&mut dyn FnMut(U) -> bool) + Send,
    work: impl Fn(U, &Results<'_, R>) + Sync,
    mut take: impl FnMut(R) -> bool,
) {
    let produce = Mutex::new(Some(produce));
    if jobs.get() > 1 {
        side_by_side(jobs, &produce, &work, &mut take);
    }
    let produce = produce.into_inner().unwrap_or_else(PoisonError::into_inner);
    let Some(produce) = produce else { return };
    let mut wants_more = true;
    produce(&mut |unit| {
        let mut take = |result| wants_more = wants_more && take(result);
        work(unit, &Results::Taken(RefCell::new(&mut take)));
        wants_more
    });
}

/// Does the work of [`in_order`] on other threads. Leaves `produce` untouched if no thread can
/// start.
fn side_by_side<U: Send, R: Send>(
    jobs: NonZero<usize>,
    produce: &Mutex<Option<impl FnOnce(&mut dyn FnMut(U) -> bool) + Send>>,
    work: &(impl Fn(U, &Results<'_, R>) + Sync),
    take: &mut impl FnMut(R) -> bool,
) {
    let ahead = jobs.get().saturating_mul(2);
    // Each unit has its own channel. Channels are drained in the order in which units were queued,
    // and jobs take units in the same order. Some job is therefore already working on the first
    // unfinished unit, and waiting for that unit cannot deadlock.
    let (queue, queued) = sync_channel::<(U, SyncSender<R>)>(ahead);
    let (order, ordered) = sync_channel::<Receiver<R>>(ahead);
    // Only the jobs own the receiving end of the queue. If all of them panic, the queue closes, so
    // sending to it cannot block.
    let queued = Arc::new(Mutex::new(queued));
    let is_stopped = &AtomicBool::new(false);
    thread::scope(|scope| {
        let start = |_| {
            let queued = Arc::clone(&queued);
            let job = move || {
                let is_wanted = || !is_stopped.load(Ordering::Relaxed);
                while let Some((unit, found)) = next(&queued, is_wanted) {
                    work(unit, &Results::Waiting(found));
                }
            };
            Builder::new().spawn_scoped(scope, job).ok()
        };
        if (0..jobs.get()).map_while(start).count() == 0 {
            return;
        }
        let pass = move || {
            let mut produce = produce.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(produce) = produce.take() {
                produce(&mut |unit| {
                    let (found, results) = sync_channel(WAITING);
                    order.send(results).is_ok() && queue.send((unit, found)).is_ok()
                });
            }
        };
        // If the thread cannot be started, both queues close, and the jobs end.
        let _ = Builder::new().spawn_scoped(scope, pass);
        drop(queued);
        if !ordered.into_iter().flatten().all(take) {
            is_stopped.store(true, Ordering::Relaxed);
        }
    });
}

/// Returns the next unit, or `None` if no more are queued or wanted.
///
/// Calls `is_wanted` before another job can take the next unit. Therefore, once a unit has started,
/// all earlier ones have too, and it may wait for them.
fn next<T>(queued: &Mutex<Receiver<T>>, is_wanted: impl FnOnce() -> bool) -> Option<T> {
    let queued = queued.lock().ok()?;
    queued.recv().ok().filter(|_| is_wanted())
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

    /// Runs units 0 to 99, each with 0 to 200 results, until `take` returns false.
    fn run(jobs: usize, mut take: impl FnMut(u64) -> bool) -> u64 {
        let begun = AtomicU64::new(0);
        let produce = |take: &mut dyn FnMut(u64) -> bool| {
            let _ = (0..100).all(take);
        };
        let work = |unit: u64, results: &Results<'_, u64>| {
            begun.fetch_add(1, Ordering::Relaxed);
            (0..unit * 37 % 200).for_each(|at| results.send(unit * 1000 + at));
        };
        in_order(NonZero::new(jobs).unwrap(), produce, work, &mut take);
        begun.into_inner()
    }

    #[test]
    fn results_come_in_order_up_to_the_last_wanted_one_and_few_more_units_begin() {
        let results = |unit: u64| (0..unit * 37 % 200).map(move |at| unit * 1000 + at);
        let all: Vec<_> = (0..100).flat_map(results).collect();
        // Unit 5 is the first one with a result of at least 5000.
        for (last, unit) in [(u64::MAX, 99), (5000, 5)] {
            let wanted = all.iter().filter(|result| **result < last).count() + 1;
            let expected: Vec<_> = all.iter().take(wanted).copied().collect();
            for jobs in [1, 2, 3, 16] {
                let mut found = Vec::new();
                let begun = run(jobs, |result| {
                    found.push(result);
                    result < last
                });
                assert_eq!(found, expected, "{jobs} jobs");
                // Only earlier units and those queued or running may have begun.
                let most = (unit + 3 * jobs as u64 + 2).min(100);
                assert!((unit + 1..=most).contains(&begun), "{begun} of {jobs} jobs");
            }
        }
    }

    /// A unit may wait for the units before it, as the rest of a session waits for its threads. So
    /// no unit may begin until all earlier ones are certain to begin.
    #[test]
    fn no_unit_is_taken_until_it_is_known_whether_the_previous_one_is_wanted() {
        let (queue, queued) = sync_channel(3);
        (0..3).for_each(|unit| queue.send(unit).unwrap());
        let queued = Mutex::new(queued);
        let when_taken = |is_wanted| {
            next(&queued, || {
                assert!(queued.try_lock().is_err());
                is_wanted
            })
        };
        let found = [true, false, true].map(when_taken);
        assert_eq!(found, [Some(0), None, Some(2)]);
    }
}
