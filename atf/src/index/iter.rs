//! Iterates over events.

use std::borrow::Cow;
use std::iter::FusedIterator;
use std::ops::{Range, RangeBounds};

use super::{IndexEvent, IndexReader, Pass, Record, clamp};
use crate::ending::Ending;
use crate::error::{Error, Result};
use crate::window::Window;
use crate::wire::Wire;

impl IndexReader {
    /// Returns a cursor that looks up events through a buffer.
    #[must_use]
    pub fn cursor(&self) -> IndexCursor<'_> {
        IndexCursor {
            reader: self,
            window: Window::new(&self.input),
        }
    }

    /// Iterates over all events in file order, which is chronological unless the writer is faulty.
    /// With `rev`, the iteration starts at the last event.
    ///
    /// Events are verified as they are read. After the last event, the iterator returns an `Err`
    /// for each of the [`problems`](Self::problems): the returned events are in the file, but
    /// others may be missing, and some may have changed. [`events_in`](Self::events_in) does not
    /// verify events.
    #[must_use]
    pub fn events(&self) -> Events<'_> {
        let mut events = self.events_in(..);
        events.ending = Ending::UNKNOWN;
        if matches!(events.block, Cow::Owned(_)) {
            events.pass = Pass::new(self);
        }
        events
    }

    /// Iterates over the events at these positions without verifying them (see
    /// [`known_checksum`](Self::known_checksum)). Ignores positions after the last event.
    #[must_use]
    pub fn events_in(&self, seqs: impl RangeBounds<u64>) -> Events<'_> {
        let seqs = clamp(seqs, self.event_count());
        let (block, end, left) = match self.slice(seqs.clone()) {
            Some(slice) => (Cow::Borrowed(slice.records()), slice.len(), 0..0),
            None => (Cow::Owned(Vec::new()), 0, seqs),
        };
        Events {
            reader: self,
            wire: self.wire(),
            thread_id: self.header().thread_id,
            block,
            given: 0,
            end,
            left,
            back: Window::new(&self.input),
            pass: None,
            ending: Ending::nothing(),
        }
    }
}

/// A cursor that looks up events through a buffer, for many lookups that are close together or
/// ascending.
///
/// Created by [`IndexReader::cursor`].
#[derive(Debug)]
pub struct IndexCursor<'a> {
    reader: &'a IndexReader,
    window: Window<'a>,
}

impl<'a> IndexCursor<'a> {
    /// Returns event `seq`, or `None` after the last one.
    ///
    /// # Errors
    ///
    /// The errors of [`IndexReader::get`].
    #[inline]
    pub fn get(&mut self, seq: u64) -> Result<Option<IndexEvent>> {
        let Some(offset) = self.reader.event_offset(seq) else {
            return Ok(None);
        };
        let bytes = self.window.record(offset)?;
        Ok(Some(self.reader.decode(bytes)))
    }

    /// Returns the bytes of event `seq`, including reserved bytes, or `None` after the last event.
    ///
    /// # Errors
    ///
    /// The errors of [`IndexReader::get`].
    pub fn bytes(&mut self, seq: u64) -> Result<Option<[u8; IndexEvent::SIZE]>> {
        self.reader
            .event_offset(seq)
            .map(|offset| self.window.record(offset).copied())
            .transpose()
    }
}

/// An iterator over events in file order, from either end, including those in gaps. Ends after a
/// read error.
///
/// Created by [`IndexReader::events`], which adds the file's problems at the end, and by
/// [`IndexReader::events_in`].
#[derive(Debug)]
pub struct Events<'a> {
    reader: &'a IndexReader,
    wire: Wire,
    thread_id: u32,
    /// All events in memory, without a copy, or a buffer of events.
    block: Cow<'a, [Record]>,
    /// How many of the block's events have been returned.
    given: usize,
    end: usize,
    /// The positions of the events after the block, which are not yet read.
    left: Range<u64>,
    back: Window<'a>,
    /// The pass that scans all events as they are read; `None` if they are not verified.
    pass: Option<Pass>,
    ending: Ending,
}

/// The number of events in the first read (4 KiB). Each later read is twice as large as the one
/// before.
const FIRST: usize = (4 << 10) / IndexEvent::SIZE;
/// The maximum number of events to buffer. They take 64 KiB, so both the scan and the caller find
/// them in the cache.
const MOST: usize = (64 << 10) / IndexEvent::SIZE;

impl Events<'_> {
    #[inline]
    fn decode(&self, record: &Record) -> IndexEvent {
        IndexEvent::decode(self.wire, self.thread_id, record)
    }

    /// Buffers the events after the block, or returns the next problem. Does not return an event,
    /// because `next` could then not keep events in registers.
    #[cold]
    #[inline(never)]
    fn after_block(&mut self) -> Option<Result<()>> {
        if self.left.is_empty() {
            return self.problem();
        }
        if let Err(error) = self.fill() {
            return Some(self.fail(error));
        }
        (self.given < self.end).then_some(Ok(()))
    }

    /// Buffers the next events, at least one.
    fn fill(&mut self) -> Result<()> {
        let Cow::Owned(records) = &mut self.block else {
            return Ok(());
        };
        let size = records.len().saturating_mul(2).clamp(FIRST, MOST);
        let left = self.left.end.saturating_sub(self.left.start);
        let size = usize::try_from(left).map_or(size, |left| left.min(size));
        records.resize(size, [0; IndexEvent::SIZE]);
        let read = self.reader.read_records(self.left.start, records)?;
        records.truncate(read);
        (self.given, self.end) = (0, read);
        self.left.start = self.left.start.saturating_add(read as u64);
        if let Some(pass) = &mut self.pass {
            pass.add(self.reader, records);
        }
        Ok(())
    }

    /// Returns the last of the remaining events after the block, or the next problem.
    #[cold]
    fn next_back_after_block(&mut self) -> Option<Result<IndexEvent>> {
        let Some(seq) = self.left.next_back() else {
            return self.problem();
        };
        // Events are taken from the back, so the pass no longer receives all events in order.
        self.pass = None;
        let (wire, thread_id) = (self.wire, self.thread_id);
        match self.back.record_backward(self.reader.offset_of(seq)) {
            Ok(record) => Some(Ok(IndexEvent::decode(wire, thread_id, record))),
            Err(error) => Some(self.fail(error)),
        }
    }

    /// Returns the next problem, after the last event.
    fn problem<T>(&mut self) -> Option<Result<T>> {
        let reader = self.reader;
        let problems = || {
            let pass = self.pass.take();
            let completed = pass.map_or(Ok(()), |pass| pass.complete(reader));
            // Read the events that the pass did not receive: those in memory and those taken from
            // the back.
            let scanned = completed.and_then(|()| reader.scan());
            let mut problems = reader.problems();
            problems.extend(scanned.err());
            problems
        };
        self.ending.next(problems).map(Err)
    }

    /// Ends the iteration after a read error.
    fn fail<T>(&mut self, error: Error) -> Result<T> {
        self.left = 0..0;
        (self.given, self.end) = (0, 0);
        self.ending = Ending::nothing();
        Err(error)
    }
}

impl Iterator for Events<'_> {
    type Item = Result<IndexEvent>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.given < self.end
                && let Some(record) = self.block.get(self.given)
            {
                let event = self.decode(record);
                self.given = self.given.wrapping_add(1);
                return Some(Ok(event));
            }
            if let Err(error) = self.after_block()? {
                return Some(Err(error));
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let at_hand = self.end.saturating_sub(self.given);
        let left = self.left.size_hint().1;
        let events = left.and_then(|left| left.checked_add(at_hand));
        (at_hand, self.ending.most(events))
    }
}

impl DoubleEndedIterator for Events<'_> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        if self.left.is_empty()
            && let Some(last) = self.end.checked_sub(1).filter(|last| *last >= self.given)
            && let Some(record) = self.block.get(last)
        {
            let event = self.decode(record);
            self.end = last;
            return Some(Ok(event));
        }
        self.next_back_after_block()
    }
}

impl FusedIterator for Events<'_> {}
