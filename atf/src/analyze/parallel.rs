//! Works side by side; the results are taken in the items' order.

use std::num::NonZero;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// How many results per job may wait for their turn.
const AHEAD: usize = 4;

/// Does `work` on each item, up to `jobs` at a time, and takes the results in the items' order.
pub(super) fn in_order<T: Sync, R: Send>(
    items: &[T],
    jobs: NonZero<usize>,
    work: impl Fn(&T) -> R + Sync,
    mut take: impl FnMut(R),
) {
    let jobs = jobs.get().min(items.len());
    if jobs <= 1 {
        return items.iter().for_each(|item| take(work(item)));
    }
    // Each item has its own channel. Jobs take items in the order in which the channels are
    // drained, so one is already working on the item that is waited for.
    let ahead = jobs.saturating_mul(AHEAD);
    let (queue, queued) = sync_channel::<(&T, SyncSender<R>)>(ahead);
    let (order, ordered) = sync_channel::<Receiver<R>>(ahead);
    // Owned by the jobs: if all of them panicked, nobody would wait for them.
    let queued = Arc::new(Mutex::new(queued));
    let work = &work;
    thread::scope(|scope| {
        scope.spawn(move || {
            items.iter().all(|item| {
                let (found, results) = sync_channel(1);
                order.send(results).is_ok() && queue.send((item, found)).is_ok()
            })
        });
        for _ in 0..jobs {
            let queued = Arc::clone(&queued);
            scope.spawn(move || {
                while let Some((item, found)) = next(&queued) {
                    // Only a panic, which the scope passes on, stops the receiver.
                    if found.send(work(item)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(queued);
        ordered.iter().flatten().for_each(&mut take);
    });
}

/// Returns the next item, or `None` if there are no more.
fn next<T>(queue: &Mutex<Receiver<T>>) -> Option<T> {
    let queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
    queue.recv().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_taken_in_order_from_any_number_of_jobs() {
        let items: Vec<u64> = (0..100).collect();
        for jobs in [1, 2, 7, 200].into_iter().filter_map(NonZero::new) {
            let mut taken = Vec::new();
            let work = |item: &u64| {
                thread::sleep(std::time::Duration::from_micros((item * 37) % 90));
                *item
            };
            in_order(&items, jobs, work, |item| {
                taken.push(item);
            });
            assert_eq!(taken, items, "{jobs} jobs");
        }
    }
}
