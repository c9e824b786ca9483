//! Reads events in blocks, which is the fastest way to read a file.

use std::ops::{Range, RangeBounds};

use super::event::EVENT_SIZE;
use super::{EventSlice, IndexEvent, IndexReader, Record, clamp};
use crate::error::Result;

/// The number of events per block. A block takes 64 KiB, so a second pass finds it in the cache.
const BLOCK: u64 = (64 << 10) / EVENT_SIZE;
/// The number of events per read from a source that is not in memory (256 KiB).
const READ: usize = (256 << 10) / IndexEvent::SIZE;

impl IndexReader {
    /// Returns the events at these positions in blocks of about 2000. This is the fastest way to
    /// read a file, whether or not it is in memory. Ignores positions after the last event.
    #[must_use]
    pub fn blocks(&self, seqs: impl RangeBounds<u64>) -> EventBlocks<'_> {
        EventBlocks::new(self, clamp(seqs, self.event_count()))
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
    pub(super) fn new(reader: &'a IndexReader, seqs: Range<u64>) -> Self {
        Self {
            reader,
            left: seqs,
            buffered: 0..0,
            buffer: Vec::new(),
        }
    }

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
