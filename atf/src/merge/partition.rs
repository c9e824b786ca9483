//! Iterates over the selected events, all together or in partitions by time.

use std::num::NonZero;
use std::ops::Range;

use super::lane::{Lane, Part, share};
use super::lanes::Lanes;
use super::{Merge, Merged, Thread};
use crate::error::Result;
use crate::parallel::{Results, in_order};

/// The maximum number of partitions.
const MOST: usize = 1024;
/// How many timestamps to sample per partition, so that the partitions are about equal in size.
const SAMPLES: u64 = 256;
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
    fn parts(&self) -> Vec<Part> {
        let threads = self.opened().threads.iter();
        let mut parts: Vec<Part> = threads.map(|thread| part(thread, self.times)).collect();
        for (part, first_seq) in parts.iter_mut().zip(self.first_seqs.iter().flatten()) {
            part.seqs.start = part.seqs.start.max(*first_seq).min(part.seqs.end);
        }
        parts
    }

    /// Iterates over these parts of the threads.
    fn of_parts(&self, parts: Vec<Part>, budget: usize) -> Merged<'_> {
        let threads = &self.opened().threads;
        let records = threads.iter().map(|thread| thread.index.records());
        let Some(records) = records.collect::<Option<Vec<_>>>() else {
            return self.buffered(parts, budget);
        };
        let count = threads.len();
        let size = share(VERIFIED, count, BLOCKS);
        let lanes = threads.iter().zip(records).zip(parts);
        let lanes = lanes
            .map(|((thread, records), part)| Lane::in_memory(thread, count, records, part, size));
        Merged::new(self.opened(), Lanes::new(lanes))
    }

    fn buffered(&self, parts: Vec<Part>, budget: usize) -> Merged<'static> {
        let threads = &self.opened().threads;
        let count = threads.len();
        let size = share(budget, count, BUFFERS);
        let lanes = threads.iter().zip(parts);
        let lanes = lanes.map(|(thread, part)| Lane::buffered(thread, count, part, size));
        Merged::new(self.opened(), Lanes::new(lanes))
    }

    /// Divides the events by time into at most `count` parts, one per core, and at most 1,024.
    /// Concatenated, the parts return the same events as [`events`](Self::events).
    ///
    /// Events with equal timestamps stay together, so a trace with few distinct timestamps has
    /// fewer parts. The bounds of the parts are chosen from a sample of the timestamps. Searching
    /// for the bounds requires ordered threads: the first call reads all events, on `count` cores,
    /// to find out which threads are ordered, and reads unordered threads a second time. If a read
    /// fails, there is only one part.
    ///
    /// Each part has its own buffers, which together stay within the [budget](Self::buffer_budget).
    ///
    /// ```
    /// use atf::session::SessionReader;
    #[doc = include_str!("../doc_setup/session.md")]
    /// let merge = SessionReader::open(path)?.merge();
    /// let counts = std::thread::scope(|scope| {
    ///     let count = |part: atf::merge::Merged<'_>| part.filter(Result::is_ok).count();
    ///     let parts = merge.partitions(2).into_iter();
    ///     let workers: Vec<_> = parts.map(|part| scope.spawn(move || count(part))).collect();
    ///     workers.into_iter().map(|worker| worker.join().unwrap()).sum::<usize>()
    /// });
    /// assert_eq!(counts, 4);
    /// # Ok::<(), atf::Error>(())
    /// ```
    #[must_use]
    pub fn partitions(&self, count: usize) -> Vec<Merged<'_>> {
        let parts = self.parts();
        let cut = match count.min(MOST) {
            0 | 1 => Vec::new(),
            count => self.cut(&parts, count).unwrap_or_default(),
        };
        if cut.is_empty() {
            return vec![self.of_parts(parts, self.budget)];
        }
        let budget = self.budget.checked_div(cut.len()).unwrap_or_default();
        // All threads were read to divide them, so the last partition can report their problems.
        let last = cut.len().saturating_sub(1);
        let partition = |(place, parts)| {
            let merged = self.of_parts(parts, budget);
            if place == last {
                merged
            } else {
                merged.without_problems()
            }
        };
        cut.into_iter().enumerate().map(partition).collect()
    }

    /// Returns each partition's part of every thread.
    fn cut(&self, parts: &[Part], count: usize) -> Result<Vec<Vec<Part>>> {
        let threads: Vec<&Thread> = self.opened().threads.iter().map(AsRef::as_ref).collect();
        learn_order(&threads, count)?;
        let borders = borders(&threads, parts, count)?;
        let mut cut = vec![Vec::with_capacity(parts.len()); borders.len().saturating_add(1)];
        for (thread, part) in threads.iter().zip(parts) {
            let mut start = part.seqs.start;
            let ends = seqs(thread, part, &borders)?;
            let ends = ends.into_iter().chain([part.seqs.end]);
            for (parts, end) in cut.iter_mut().zip(ends) {
                parts.push(Part {
                    seqs: start..end,
                    times: part.times,
                });
                start = end;
            }
        }
        Ok(cut)
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

/// Reads the threads on several cores to find out which are ordered.
fn learn_order(threads: &[&Thread], cores: usize) -> Result<()> {
    let jobs = NonZero::new(cores.min(threads.len())).unwrap_or(NonZero::<usize>::MIN);
    let produce = |take: &mut dyn FnMut(usize) -> bool| {
        // Stop reading threads once one is unreadable.
        let _ = (0..threads.len()).all(take);
    };
    let work = |place: usize, learned: &Results<'_, Result<()>>| {
        let thread = threads.get(place);
        learned.send(thread.map_or(Ok(()), |thread| thread.is_ordered().map(drop)));
    };
    let mut all = Ok(());
    in_order(jobs, produce, work, |learned| {
        all = learned;
        all.is_ok()
    });
    all
}

/// Returns ascending timestamps that divide the events into about equal parts.
fn borders(threads: &[&Thread], parts: &[Part], count: usize) -> Result<Vec<u64>> {
    let size = |part: &Part| part.seqs.end.saturating_sub(part.seqs.start);
    let total = parts.iter().map(size).fold(0, u64::saturating_add);
    let wanted = SAMPLES.saturating_mul(count as u64);
    let stride = total.checked_div(wanted).unwrap_or_default().max(1);
    let mut samples = Vec::new();
    // Take every `stride`th event of all threads, as if they were concatenated.
    let mut skip = stride / 2;
    for (thread, part) in threads.iter().zip(parts) {
        let mut seq = part.seqs.start.saturating_add(skip);
        while seq < part.seqs.end {
            let event = thread.index.get(seq)?;
            samples.extend(
                event
                    .map(|event| event.timestamp_ns)
                    .filter(|t| part.selects(*t)),
            );
            seq = seq.saturating_add(stride);
        }
        skip = seq.saturating_sub(part.seqs.end);
    }
    samples.sort_unstable();
    let border = |part: usize| {
        let place = samples.len().saturating_mul(part).checked_div(count)?;
        samples.get(place).copied()
    };
    let mut borders: Vec<u64> = (1..count).filter_map(border).collect();
    borders.dedup();
    Ok(borders)
}

/// Returns the position of the first event at or after each border.
fn seqs(thread: &Thread, part: &Part, borders: &[u64]) -> Result<Vec<u64>> {
    let Range { start, end } = part.seqs;
    let index = &thread.index;
    let mut seqs = Vec::with_capacity(borders.len());
    if thread.is_ordered()? {
        for border in borders {
            let found = index.seq_range(*border..)?;
            seqs.push(found.map_or(end, |found| found.start.clamp(start, end)));
        }
        return Ok(seqs);
    }
    // An event that is earlier than its predecessor still comes after it: see `Merge`.
    let mut blocks = index.blocks(start..end);
    while seqs.len() < borders.len() {
        let first_seq = blocks.next_seq();
        let Some(block) = blocks.next_block()? else {
            break;
        };
        for (seq, event) in (first_seq..).zip(block.iter()) {
            let time = event.timestamp_ns;
            let is_reached = |border: &&u64| time >= **border;
            while part.selects(time) && borders.get(seqs.len()).as_ref().is_some_and(is_reached) {
                seqs.push(seq);
            }
        }
    }
    seqs.resize(borders.len(), end);
    Ok(seqs)
}
