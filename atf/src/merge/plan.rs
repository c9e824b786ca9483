//! Selects the events of each thread.

use std::sync::Arc;

use super::events::Verdict;
use super::feed::{Buffered, InMemory, Part};
use super::lanes::Lanes;
use super::thread::Thread;
use super::{Merge, Merged};

/// Bytes of a thread's smallest and largest buffer.
const BUFFERS: (usize, usize) = (4 << 10, 256 << 10);

impl Merge {
    /// Iterates over the selected events in order.
    #[must_use]
    pub fn events(&self) -> Merged<'_> {
        self.of_parts(self.parts(), self.budget, self.verdict())
    }

    /// As [`events`](Self::events), for an iterator that outlives this value. It copies even events
    /// in memory through buffers.
    #[must_use]
    pub fn into_events(self) -> Merged<'static> {
        let parts = self.parts();
        self.buffered(parts, self.budget, self.verdict())
    }

    /// Returns which problems an iteration over all selected events reports.
    pub(super) fn verdict(&self) -> Verdict {
        match self.times {
            None => Verdict::Verified,
            Some(_) => Verdict::Known,
        }
    }

    /// Returns the selected part of each thread.
    pub(super) fn parts(&self) -> Vec<Part> {
        let threads = self.opened().threads.iter();
        threads.map(|thread| part(thread, self.times)).collect()
    }

    /// Iterates over these parts of the threads.
    pub(super) fn of_parts(&self, parts: Vec<Part>, budget: usize, verdict: Verdict) -> Merged<'_> {
        let threads = &self.opened().threads;
        let records = threads.iter().map(|thread| thread.index().records());
        let Some(records) = records.collect::<Option<Vec<_>>>() else {
            return self.buffered(parts, budget, verdict);
        };
        let mut merged = Merged::new(self.opened(), &parts, verdict);
        let feeds = records.into_iter().zip(parts);
        let feeds = feeds.map(|(records, part)| InMemory::new(records, part));
        let threads = threads.iter().map(Arc::as_ref);
        merged.begin_in_memory(|failed| Lanes::new(threads.zip(feeds), failed));
        merged
    }

    fn buffered(&self, parts: Vec<Part>, budget: usize, verdict: Verdict) -> Merged<'static> {
        let threads = &self.opened().threads;
        let (least, most) = BUFFERS;
        let size = budget.checked_div(threads.len()).unwrap_or(most);
        let size = size.clamp(least, most);
        let mut merged = Merged::new(self.opened(), &parts, verdict);
        let feed = |(thread, part)| Buffered::new(Arc::clone(thread), part, size);
        let feeds = threads.iter().zip(parts).map(feed);
        let threads = threads.iter().map(Arc::as_ref);
        merged.begin_buffered(|failed| Lanes::new(threads.zip(feeds), failed));
        merged
    }
}

/// Returns the part of a thread's events at these times. If the thread's ends do not prove its
/// order, or the search fails, this is every event; an unreadable one ends the thread when its turn
/// comes.
fn part(thread: &Thread, times: Option<(u64, u64)>) -> Part {
    let all = 0..thread.index().event_count();
    let Some((first, last)) = times else {
        return Part {
            seqs: all,
            times: None,
        };
    };
    match thread.index().seek(first..=last) {
        Ok(Some(seqs)) => Part { seqs, times },
        Ok(None) | Err(_) => Part { seqs: all, times },
    }
}
