//! Supplies the selected events of one thread, one run of consecutive events at a time.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::thread::Thread;
use crate::error::Result;
use crate::index::{IndexEvent, IndexReader, Pass, Record, timestamp_ns};

/// The selected part of a thread's events.
#[derive(Debug, Clone)]
pub(super) struct Part {
    /// The positions of the events in the file.
    pub(super) seqs: Range<u64>,
    /// The first and last selected timestamp; `None` selects all.
    pub(super) times: Option<(u64, u64)>,
}

impl Part {
    /// Returns whether events with this timestamp are selected.
    pub(super) fn selects(&self, timestamp_ns: u64) -> bool {
        self.times
            .is_none_or(|(first, last)| (first..=last).contains(&timestamp_ns))
    }

    /// Returns a pass that verifies events as they are read, if all events in the file are
    /// selected.
    fn verifies(&self, index: &IndexReader) -> Option<Pass> {
        let is_all = self.seqs == (0..index.event_count());
        is_all.then(|| Pass::new(index)).flatten()
    }

    /// Returns the next run of consecutive selected records in `places`.
    fn stretch(&self, records: &[Record], places: Range<usize>) -> Range<usize> {
        if self.times.is_none() {
            return places;
        }
        let rest = records.get(places.clone()).unwrap_or_default();
        let skipped = rest
            .iter()
            .take_while(|record| !self.selects(timestamp_ns(record)))
            .count();
        let wanted = rest.iter().skip(skipped);
        let count = wanted
            .take_while(|record| self.selects(timestamp_ns(record)))
            .count();
        let start = places.start.saturating_add(skipped);
        start..start.saturating_add(count)
    }
}

/// Converts bytes to events, at least one.
fn in_events(size: usize) -> usize {
    (size / IndexEvent::SIZE).max(1)
}

/// Returns each thread's share of `total`, within limits.
pub(super) fn share(total: usize, threads: usize, (least, most): (usize, usize)) -> usize {
    let share = total.checked_div(threads).unwrap_or(most);
    share.clamp(least, most)
}

/// The source of one thread's selected events in a merge.
#[derive(Debug)]
pub(super) struct Feed<'m> {
    pub(super) thread: Arc<Thread>,
    /// The available records: all records if the file is in memory, otherwise those in the buffer.
    records: Cow<'m, [Record]>,
    /// The position in the file of the first available record.
    pub(super) first_seq: u64,
    /// The available records not yet examined.
    left: Range<usize>,
    part: Part,
    /// The maximum number of events to read or verify at once.
    size: usize,
    /// The pass that verifies events just before they are merged, if all are selected.
    pass: Option<Pass>,
}

impl<'m> Feed<'m> {
    /// Creates a feed of events in memory. If it verifies them, it does so for at most `block_size`
    /// bytes at a time.
    pub(super) fn in_memory(
        thread: &Arc<Thread>,
        records: &'m [Record],
        part: Part,
        block_size: usize,
    ) -> Self {
        let pass = part.verifies(&thread.index);
        let start = usize::try_from(part.seqs.start).unwrap_or(records.len());
        Self {
            thread: Arc::clone(thread),
            records: Cow::Borrowed(records),
            first_seq: 0,
            left: start..start,
            part,
            size: pass.as_ref().map_or(usize::MAX, |_| in_events(block_size)),
            pass,
        }
    }

    /// Creates a feed that reads at most `buffer_size` bytes at a time, but at least one event.
    pub(super) fn buffered(thread: &Arc<Thread>, part: Part, buffer_size: usize) -> Self {
        Self {
            thread: Arc::clone(thread),
            records: Cow::Owned(Vec::new()),
            first_seq: part.seqs.start,
            left: 0..0,
            pass: part.verifies(&thread.index),
            part,
            size: in_events(buffer_size),
        }
    }

    /// Returns how many events in memory are verified at once, if any are.
    pub(super) fn verified_at_once(&self) -> Option<usize> {
        let is_in_memory = matches!(self.records, Cow::Borrowed(_));
        (is_in_memory && self.pass.is_some()).then_some(self.size)
    }

    #[inline]
    pub(super) fn records(&self) -> &[Record] {
        &self.records
    }

    /// Returns the maximum number of events that [`next`](Self::next) can still return.
    pub(super) fn left(&self) -> u64 {
        self.unread().saturating_add(self.left.len() as u64)
    }

    /// Returns the number of events that are not yet available, or not yet verified.
    fn unread(&self) -> u64 {
        let end = self.first_seq.saturating_add(self.left.end as u64);
        self.part.seqs.end.saturating_sub(end)
    }

    /// Returns the next selected events, as a range of the available records. The available records
    /// may change. The range is empty after the last event.
    pub(super) fn next(&mut self) -> Result<Range<usize>> {
        loop {
            let is_last = self.left.is_empty() && !self.fill()?;
            let stretch = self.part.stretch(&self.records, self.left.clone());
            self.left.start = stretch.end;
            if !stretch.is_empty() || is_last {
                return Ok(stretch);
            }
        }
    }

    /// Makes more records available, and returns whether there are any.
    fn fill(&mut self) -> Result<bool> {
        let size = usize::try_from(self.unread()).map_or(self.size, |unread| unread.min(self.size));
        let index = &self.thread.index;
        match &mut self.records {
            Cow::Borrowed(records) => {
                let end = self.left.end.saturating_add(size).min(records.len());
                self.left.end = end;
            }
            Cow::Owned(records) => {
                self.first_seq = self.first_seq.saturating_add(records.len() as u64);
                self.left = 0..0;
                records.resize(size, [0; IndexEvent::SIZE]);
                let read = index.read_records(self.first_seq, records);
                records.truncate(*read.as_ref().unwrap_or(&0));
                self.left.end = read?;
            }
        }
        let more = self.records.get(self.left.clone()).unwrap_or_default();
        match &mut self.pass {
            Some(pass) if !more.is_empty() => pass.add(index, more),
            pass => pass.take().map_or(Ok(()), |pass| pass.complete(index))?,
        }
        Ok(!more.is_empty())
    }
}
