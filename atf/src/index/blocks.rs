//! Reads events in blocks: the fastest way to read a file.

use std::ops::{Range, RangeBounds};

use super::event::EVENT_SIZE;
use super::{EventSlice, IndexEvent, IndexReader, Pass, Record, clamp};
use crate::error::Result;

/// The number of events per block. A block takes 64 KiB, so a second pass finds it in the cache.
const BLOCK: u64 = (64 << 10) / EVENT_SIZE;
/// The number of events per read from a source that is not in memory (256 KiB).
const READ: usize = (256 << 10) / IndexEvent::SIZE;
/// The number of events per read of [`Steps`] (64 KiB).
const STEP: usize = (64 << 10) / IndexEvent::SIZE;

impl IndexReader {
    /// Returns the events at these positions in blocks of about 2000. This is the fastest way to
    /// read a file, whether or not it is in memory. Ignores positions after the last event.
    #[must_use]
    pub fn blocks(&self, seqs: impl RangeBounds<u64>) -> EventBlocks<'_> {
        EventBlocks {
            reader: self,
            left: clamp(seqs, self.event_count()),
            buffered: 0..0,
            buffer: Vec::new(),
        }
    }
}

/// The events in a range, in blocks of about 2000.
///
/// Each block is borrowed until the next call, so this is not an `Iterator`. In-memory events are
/// not copied; other sources are read into one buffer, 256 KiB at a time.
///
/// ```
/// use atf::index::IndexReader;
#[doc = include_str!("../doc_setup/thread.md")]
/// let index = IndexReader::open(folder.join("index.atf"))?;
/// let mut blocks = index.blocks(..);
/// let mut deepest = None;
/// while let Some(block) = blocks.next_block()? {
///     deepest = deepest.max(block.iter().filter_map(|event| event.call_depth).max());
/// }
/// assert_eq!(deepest, Some(1));
/// # Ok::<(), atf::Error>(())
/// ```
#[derive(Debug)]
pub struct EventBlocks<'a> {
    reader: &'a IndexReader,
    /// The events not yet returned.
    left: Range<u64>,
    /// The events in the buffer.
    buffered: Range<u64>,
    buffer: Vec<Record>,
}

impl<'a> EventBlocks<'a> {
    /// Returns the position of the first event of the next block.
    #[must_use]
    pub fn next_seq(&self) -> u64 {
        self.left.start
    }

    /// Returns the next block, or `None` after the last one or after an error.
    ///
    /// # Errors
    ///
    /// The errors of [`IndexReader::get`].
    pub fn next_block(&mut self) -> Result<Option<EventSlice<'_>>> {
        let start = self.left.start;
        if self.left.is_empty() {
            return Ok(None);
        }
        let in_memory = self.reader.slice(..).is_some();
        if !in_memory && !self.buffered.contains(&start) {
            self.fill()
                .inspect_err(|_| self.left.start = self.left.end)?;
        }
        let end = start.saturating_add(BLOCK).min(self.left.end);
        if in_memory {
            self.left.start = end;
            return Ok(self.reader.slice(start..end));
        }
        let end = end.min(self.buffered.end);
        self.left.start = end;
        let position = |seq: u64| usize::try_from(seq.saturating_sub(self.buffered.start));
        let header = self.reader.header();
        let buffered = EventSlice::new(header.wire, header.thread_id, self.buffer.as_flattened());
        let range = position(start).ok().zip(position(end).ok());
        Ok(range.map(|(start, end)| buffered.slice(start..end)))
    }

    /// Reads the next events into the buffer, at least one.
    #[cold]
    fn fill(&mut self) -> Result<()> {
        let left = self.left.end.saturating_sub(self.left.start);
        let count = usize::try_from(left).map_or(READ, |left| left.min(READ));
        self.buffer.resize(count, [0; IndexEvent::SIZE]);
        self.buffered = 0..0;
        let start = self.left.start;
        let read = self.reader.read_records(start, &mut self.buffer)?;
        self.buffered = start..start.saturating_add(read as u64);
        Ok(())
    }
}

/// A pass that reads and scans all events block by block. Every call must pass the same reader.
#[derive(Debug)]
pub(crate) struct Steps {
    pass: Option<Pass>,
    records: Vec<Record>,
    /// The position of the block's first event.
    start: u64,
    /// The number of events in the block.
    len: usize,
}

impl Steps {
    pub(crate) fn new(index: &IndexReader) -> Self {
        Self {
            pass: Pass::new(index),
            records: vec![[0; IndexEvent::SIZE]; STEP],
            start: 0,
            len: 0,
        }
    }

    /// Returns the position just after the block.
    pub(crate) fn end(&self) -> u64 {
        self.start.saturating_add(self.len as u64)
    }

    /// Reads the next block and returns its events and the position of the first one. After the last
    /// event, returns no events and completes the scan.
    pub(crate) fn next_block(&mut self, index: &IndexReader) -> Result<(u64, &[Record])> {
        let end = self.end();
        let len = index.read_records(end, &mut self.records)?;
        (self.start, self.len) = (end, len);
        let block = self.records.get(..len).unwrap_or_default();
        if len == 0 {
            if let Some(pass) = self.pass.take() {
                pass.complete(index)?;
            }
        } else if let Some(pass) = &mut self.pass {
            pass.add(index, block);
        }
        Ok((end, block))
    }

    /// Reads forward to event `seq`, or looks it up if it is before the block.
    pub(crate) fn find(&mut self, index: &IndexReader, seq: u64) -> Result<Option<Record>> {
        while self.end() <= seq && !self.next_block(index)?.1.is_empty() {}
        match self.get(seq) {
            Some(record) => Ok(Some(*record)),
            None => index.record(seq),
        }
    }

    /// Returns event `seq` if it is in the block.
    pub(crate) fn get(&self, seq: u64) -> Option<&Record> {
        let at = usize::try_from(seq.checked_sub(self.start)?).ok()?;
        self.records.get(..self.len)?.get(at)
    }
}
