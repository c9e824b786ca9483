//! Parallel work on several processors.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Calls `work` on each item, using all processors, and returns the results in the order of the
/// items.
pub(crate) fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(items.len()));
    let take_turns = || {
        loop {
            let position = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(position) else {
                return;
            };
            let result = work(item);
            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
            results.push((position, result));
        }
    };
    thread::scope(|scope| {
        for _ in 1..processors.min(items.len()) {
            // If a thread cannot be started, the current thread does its work.
            let _ = thread::Builder::new().spawn_scoped(scope, take_turns);
        }
        take_turns();
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_unstable_by_key(|(position, _)| *position);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    #[test]
    fn results_come_in_the_items_order() {
        let items: Vec<u64> = (0..50).collect();
        let squares = super::map(&items, |item| {
            std::thread::sleep(Duration::from_micros(50 - item));
            item * item
        });
        assert!(items.iter().map(|item| item * item).eq(squares));
        assert!(super::map(&[], |item: &u64| *item).is_empty());
    }
}
