//! Selects the events of each thread.

use super::feed::{Feed, Part, share};
use super::lanes::Lanes;
use super::thread::Thread;
use super::{Merge, Merged};

/// The smallest and the largest size of a thread's buffer, in bytes.
const BUFFERS: (usize, usize) = (4 << 10, 64 << 10);
/// The smallest and the largest number of bytes in memory to verify at once.
const BLOCKS: (usize, usize) = (4 << 10, 16 << 10);
/// The total size of all threads' blocks, unless there are very many threads. While a verified block
/// is merged, the next one is prefetched, and both should stay in the core's cache.
const VERIFIED: usize = 512 << 10;

impl Merge {
    /// Iterates over the selected events in order.
    #[must_use]
    pub fn events(&self) -> Merged<'_> {
        self.of_parts(self.parts(), self.budget)
    }

    /// Like [`events`](Self::events), but the iterator can outlive this value. It copies even
    /// in-memory events into buffers.
    #[must_use]
    pub fn into_events(self) -> Merged<'static> {
        let parts = self.parts();
        self.buffered(parts, self.budget)
    }

    /// Returns the selected part of each thread.
    pub(super) fn parts(&self) -> Vec<Part> {
        let threads = self.opened().threads.iter();
        let mut parts: Vec<Part> = threads.map(|thread| part(thread, self.times)).collect();
        for (part, first_seq) in parts.iter_mut().zip(self.first_seqs.iter().flatten()) {
            part.seqs.start = part.seqs.start.max(*first_seq).min(part.seqs.end);
        }
        parts
    }

    /// Iterates over these parts of the threads.
    pub(super) fn of_parts(&self, parts: Vec<Part>, budget: usize) -> Merged<'_> {
        let threads = &self.opened().threads;
        let records = threads.iter().map(|thread| thread.index.records());
        let Some(records) = records.collect::<Option<Vec<_>>>() else {
            return self.buffered(parts, budget);
        };
        let size = share(VERIFIED, threads.len(), BLOCKS);
        let feeds = threads.iter().zip(records).zip(parts);
        let feeds =
            feeds.map(|((thread, records), part)| Feed::in_memory(thread, records, part, size));
        Merged::new(self.opened(), Lanes::new(feeds))
    }

    fn buffered(&self, parts: Vec<Part>, budget: usize) -> Merged<'static> {
        let threads = &self.opened().threads;
        let size = share(budget, threads.len(), BUFFERS);
        let feeds = threads.iter().zip(parts);
        let feeds = feeds.map(|(thread, part)| Feed::buffered(thread, part, size));
        Merged::new(self.opened(), Lanes::new(feeds))
    }
}

/// Returns the part of a thread's events in this time range. If the thread's ends do not prove its
/// order, or the search fails, all events are read, and the thread ends at the first unreadable
/// event, once its turn comes.
fn part(thread: &Thread, times: Option<(u64, u64)>) -> Part {
    let all = 0..thread.index.event_count();
    let Some((first, last)) = times else {
        return Part {
            seqs: all,
            times: None,
        };
    };
    match thread.index.seek(first..=last) {
        Ok(Some(seqs)) => Part { seqs, times },
        Ok(None) | Err(_) => Part { seqs: all, times },
    }
}
