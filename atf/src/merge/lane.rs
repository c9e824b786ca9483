//! The stream of one thread's selected events.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::{MergedEvent, Thread};
use crate::error::Result;
use crate::index::{IndexEvent, IndexReader, Pass, Record, timestamp_ns};
use crate::sys;
use crate::wire::Wire;

/// How many records to prefetch, in total and for each thread. With several threads, the processor
/// does not detect that the records of each are read sequentially.
const PREFETCHED: usize = 512;
const NEAR: (usize, usize) = (4, 16);
/// The maximum number of threads whose verified blocks, and the next ones, all stay in the cache.
const FEW: usize = 64;

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

/// One thread's stream of selected events, one run of consecutive events at a time.
#[derive(Debug)]
pub(super) struct Lane<'m> {
    thread: Arc<Thread>,
    session: u32,
    id: u32,
    thread_id: u32,
    wire: Wire,
    /// The available records: all records if the file is in memory, otherwise those in the buffer.
    records: Cow<'m, [Record]>,
    /// The position in the file of the first available record.
    first_seq: u64,
    /// The position, in the available records, of the next event to return.
    at: usize,
    /// The position of the first event that is not yet ordered.
    head: usize,
    /// The position after the run's last event.
    end: usize,
    /// The available records after the run.
    left: Range<usize>,
    part: Part,
    /// The maximum number of events to read or verify at once.
    size: usize,
    /// The pass that verifies events just before they are merged, if all are selected.
    pass: Option<Pass>,
    /// How many events ahead to prefetch records.
    ahead: usize,
}

impl<'m> Lane<'m> {
    /// Creates the lane of a thread whose events are in memory, one of this many threads. If it
    /// verifies them, it does so for at most `block_size` bytes at a time.
    pub(super) fn in_memory(
        thread: &Arc<Thread>,
        threads: usize,
        records: &'m [Record],
        part: Part,
        block_size: usize,
    ) -> Self {
        let start = usize::try_from(part.seqs.start).unwrap_or(records.len());
        let mut lane = Self::new(thread, threads, Cow::Borrowed(records), part);
        (lane.first_seq, lane.left) = (0, start..start);
        if lane.pass.is_some() {
            lane.size = in_events(block_size);
            // Prefetch a whole block before it is verified.
            if threads <= FEW {
                lane.ahead = lane.size;
            }
        }
        lane
    }

    /// Creates a lane that reads at most `buffer_size` bytes at a time, but at least one event.
    pub(super) fn buffered(
        thread: &Arc<Thread>,
        threads: usize,
        part: Part,
        buffer_size: usize,
    ) -> Self {
        Self {
            size: in_events(buffer_size),
            ..Self::new(thread, threads, Cow::Owned(Vec::new()), part)
        }
    }

    fn new(thread: &Arc<Thread>, threads: usize, records: Cow<'m, [Record]>, part: Part) -> Self {
        let header = thread.index.header();
        Self {
            session: thread.session,
            id: thread.id,
            thread_id: header.thread_id,
            wire: header.wire,
            records,
            first_seq: part.seqs.start,
            at: 0,
            head: 0,
            end: 0,
            left: 0..0,
            pass: part.verifies(&thread.index),
            part,
            size: usize::MAX,
            ahead: share(PREFETCHED, threads, NEAR),
            thread: Arc::clone(thread),
        }
    }

    /// Returns the next event, which must already be ordered.
    #[inline(always)]
    pub(super) fn take(&mut self) -> Option<MergedEvent> {
        let at = self.at;
        let record = self.records.get(at)?;
        self.at = at.wrapping_add(1);
        Some(self.event(at, record))
    }

    /// Passes on the next `count` events, which must already be ordered.
    #[inline(always)]
    pub(super) fn fold<B>(
        &mut self,
        count: usize,
        init: B,
        mut f: impl FnMut(B, MergedEvent) -> B,
    ) -> B {
        if count == 1 {
            return match self.take() {
                Some(event) => f(init, event),
                None => init,
            };
        }
        let at = self.at;
        self.at = at.wrapping_add(count);
        let records = self.records.get(at..self.at).unwrap_or_default();
        let events = records.iter().zip(at..);
        events.fold(init, |all, (record, at)| f(all, self.event(at, record)))
    }

    #[inline(always)]
    fn event(&self, at: usize, record: &Record) -> MergedEvent {
        MergedEvent {
            session: self.session,
            thread: self.id,
            seq: self.first_seq.wrapping_add(at as u64),
            event: IndexEvent::decode(self.wire, self.thread_id, record),
        }
    }

    /// Returns the time of the event that is `after` positions after the first unordered one, if
    /// that event is in the run.
    #[inline(always)]
    pub(super) fn time(&self, after: usize) -> Option<u64> {
        let place = self.head.wrapping_add(after);
        if place >= self.end {
            return None;
        }
        self.records.get(place).map(timestamp_ns)
    }

    /// Returns whether any events of the run are not yet ordered.
    #[inline(always)]
    pub(super) fn is_waiting(&self) -> bool {
        self.head < self.end
    }

    /// Moves past the first unordered event, now that its place in the merged order is known.
    #[inline(always)]
    pub(super) fn pass(&mut self) {
        self.head = self.head.wrapping_add(1);
        if let Some(ahead) = self.records.get(self.head.wrapping_add(self.ahead)) {
            sys::prefetch(ahead);
        }
    }

    /// Moves past the first unordered event and up to `most` events after it that are not later
    /// than `last`. Returns the number of events passed.
    pub(super) fn pass_run(&mut self, last: u64, most: usize) -> usize {
        let waiting = self.records.get(self.head..self.end).unwrap_or_default();
        let rest = waiting.iter().skip(1).take(most);
        let rest = rest.take_while(|record| timestamp_ns(record) <= last);
        let count = rest.count().saturating_add(1);
        self.head = self.head.saturating_add(count);
        count
    }

    /// Returns the maximum number of events that can still come.
    pub(super) fn left(&self) -> u64 {
        let at_hand = self.end.saturating_sub(self.at) as u64;
        let left = self.unread().saturating_add(self.left.len() as u64);
        left.saturating_add(at_hand)
    }

    /// Returns the number of events that are not yet available, or not yet verified.
    fn unread(&self) -> u64 {
        let end = self.first_seq.saturating_add(self.left.end as u64);
        self.part.seqs.end.saturating_sub(end)
    }

    /// Begins the next run, once all events of the last one have been returned. After the last
    /// event, and after an error, the run is empty.
    pub(super) fn refill(&mut self) -> Result<()> {
        (self.at, self.head, self.end) = (0, 0, 0);
        loop {
            let is_last = self.left.is_empty() && !self.fill()?;
            let run = self.part.stretch(&self.records, self.left.clone());
            self.left.start = run.end;
            if !run.is_empty() || is_last {
                (self.at, self.head, self.end) = (run.start, run.start, run.end);
                return Ok(());
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
