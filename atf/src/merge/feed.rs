//! The events of one thread, a stretch at a time.

use std::ops::Range;
use std::sync::Arc;

use super::thread::Thread;
use crate::error::Result;
use crate::index::{IndexEvent, Pass, Record};

/// Returns the timestamp, which is an event's first field in both wire versions.
#[inline]
pub(super) fn timestamp_ns(record: &Record) -> u64 {
    record
        .first_chunk()
        .map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// The selected part of a thread's events.
#[derive(Debug, Clone)]
pub(super) struct Part {
    /// Positions in the file.
    pub(super) seqs: Range<u64>,
    /// If set, only events with timestamps from the first to the second are selected.
    pub(super) times: Option<(u64, u64)>,
}

impl Part {
    /// Returns whether events with this timestamp are selected.
    pub(super) fn wants(&self, timestamp_ns: u64) -> bool {
        self.times
            .is_none_or(|(first, last)| (first..=last).contains(&timestamp_ns))
    }

    /// Returns the next run of consecutive selected records in `places`.
    fn stretch(&self, records: &[Record], places: Range<usize>) -> Range<usize> {
        if self.times.is_none() {
            return places;
        }
        let rest = records.get(places.clone()).unwrap_or_default();
        let skipped = rest
            .iter()
            .take_while(|record| !self.wants(timestamp_ns(record)))
            .count();
        let wanted = rest.iter().skip(skipped);
        let count = wanted
            .take_while(|record| self.wants(timestamp_ns(record)))
            .count();
        let start = places.start.saturating_add(skipped);
        start..start.saturating_add(count)
    }
}

/// Supplies the events of one thread.
pub(super) trait Feed {
    /// Returns the available records.
    fn records(&self) -> &[Record];

    /// Returns the position in the file of the first available record.
    fn first_seq(&self) -> u64;

    /// Returns the next selected events, as a range of the available records, which may change. The
    /// range is empty after the last event.
    fn next(&mut self) -> Result<Range<usize>>;
}

/// Events in memory.
#[derive(Debug)]
pub(super) struct InMemory<'m> {
    records: &'m [Record],
    part: Part,
    left: Range<usize>,
}

impl<'m> InMemory<'m> {
    pub(super) fn new(records: &'m [Record], part: Part) -> Self {
        let place =
            |seq: u64| usize::try_from(seq).map_or(records.len(), |seq| seq.min(records.len()));
        let left = place(part.seqs.start)..place(part.seqs.end);
        Self {
            records,
            part,
            left,
        }
    }
}

impl Feed for InMemory<'_> {
    #[inline]
    fn records(&self) -> &[Record] {
        self.records
    }

    #[inline]
    fn first_seq(&self) -> u64 {
        0
    }

    fn next(&mut self) -> Result<Range<usize>> {
        let stretch = self.part.stretch(self.records, self.left.clone());
        self.left.start = stretch.end;
        Ok(stretch)
    }
}

/// Events read from a file, some KiB at a time.
#[derive(Debug)]
pub(super) struct Buffered {
    records: Vec<Record>,
    first_seq: u64,
    /// Buffered records that were not yet looked at.
    left: Range<usize>,
    thread: Arc<Thread>,
    part: Part,
    /// The buffer's capacity in records.
    size: usize,
    /// Verifies the events as they are read, if all of them are.
    pass: Option<Pass>,
}

impl Buffered {
    /// Creates a feed that reads at most `buffer_size` bytes at a time, at least one event.
    pub(super) fn new(thread: Arc<Thread>, part: Part, buffer_size: usize) -> Self {
        let index = thread.index();
        let is_all = part.seqs == (0..index.event_count());
        Self {
            pass: is_all.then(|| Pass::new(index)).flatten(),
            records: Vec::new(),
            first_seq: part.seqs.start,
            left: 0..0,
            thread,
            part,
            size: (buffer_size / IndexEvent::SIZE).max(1),
        }
    }

    fn fill(&mut self) -> Result<()> {
        self.first_seq = self.first_seq.saturating_add(self.records.len() as u64);
        let wanted = self.part.seqs.end.saturating_sub(self.first_seq);
        let size = usize::try_from(wanted).map_or(self.size, |wanted| wanted.min(self.size));
        self.records.resize(size, [0; IndexEvent::SIZE]);
        let index = self.thread.index();
        let read = index.read_records(self.first_seq, &mut self.records);
        self.records.truncate(*read.as_ref().unwrap_or(&0));
        self.left = 0..read?;
        match &mut self.pass {
            Some(pass) if !self.records.is_empty() => pass.add(index, &self.records),
            pass => pass.take().map_or(Ok(()), |pass| pass.complete(index))?,
        }
        Ok(())
    }
}

impl Feed for Buffered {
    #[inline]
    fn records(&self) -> &[Record] {
        &self.records
    }

    #[inline]
    fn first_seq(&self) -> u64 {
        self.first_seq
    }

    fn next(&mut self) -> Result<Range<usize>> {
        loop {
            if self.left.is_empty() {
                self.fill()?;
            }
            let stretch = self.part.stretch(&self.records, self.left.clone());
            self.left.start = stretch.end;
            if !stretch.is_empty() || self.records.is_empty() {
                return Ok(stretch);
            }
        }
    }
}
