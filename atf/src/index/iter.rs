//! Iterates over events.

use std::iter::FusedIterator;
use std::ops::Range;

use super::{IndexEvent, IndexReader, Pass, Record, SliceIter};
use crate::ending::Ending;
use crate::error::{Error, Result};
use crate::window::Window;

/// Looks events up through a buffer: for many lookups that are close together or ascending.
///
/// Made by [`IndexReader::cursor`].
#[derive(Debug)]
pub struct IndexCursor<'a> {
    reader: &'a IndexReader,
    window: Window<'a>,
}

impl<'a> IndexCursor<'a> {
    pub(super) fn new(reader: &'a IndexReader) -> Self {
        Self {
            reader,
            window: Window::new(&reader.input),
        }
    }

    /// Returns the event at position `seq`, or `None` after the last one.
    ///
    /// # Errors
    ///
    /// Those of [`IndexReader::get`].
    #[inline]
    pub fn get(&mut self, seq: u64) -> Result<Option<IndexEvent>> {
        let Some(bytes) = self.bytes(seq)? else {
            return Ok(None);
        };
        Ok(Some(self.reader.decode(&bytes)))
    }

    /// Returns the bytes of the event at position `seq`, reserved ones included, or `None` after
    /// the last one.
    ///
    /// # Errors
    ///
    /// Those of [`IndexReader::get`].
    pub fn bytes(&mut self, seq: u64) -> Result<Option<[u8; IndexEvent::SIZE]>> {
        self.reader
            .event_offset(seq)
            .map(|offset| self.window.record(offset))
            .transpose()
    }
}

/// Events in file order, including those of gaps, from either end; ends after a read error.
///
/// Made by [`IndexReader::events`], which ends with the file's problems, and by
/// [`IndexReader::events_in`].
#[derive(Debug)]
pub struct Events<'a> {
    reader: &'a IndexReader,
    inner: Inner<'a>,
    ending: Ending,
}

#[derive(Debug)]
enum Inner<'a> {
    Memory(SliceIter<'a>),
    Buffered(Box<Buffered<'a>>),
}

/// Events of the first read: 4 KiB. Each further read is twice as large.
const FIRST: usize = (4 << 10) / IndexEvent::SIZE;
/// The most events buffered: 256 KiB.
const MOST: usize = (256 << 10) / IndexEvent::SIZE;

/// Each end has its own buffer, so that alternating between them reads nothing twice.
#[derive(Debug)]
struct Buffered<'a> {
    reader: &'a IndexReader,
    /// Buffered events, and how many of them were returned.
    front: Vec<Record>,
    given: usize,
    back: Window<'a>,
    /// The positions of events not yet read.
    left: Range<u64>,
    /// Scans all events as they are read; set if the caller wants them verified.
    pass: Option<Pass>,
}

impl<'a> Events<'a> {
    pub(super) fn new(reader: &'a IndexReader, seqs: Range<u64>) -> Self {
        let inner = match reader.slice(seqs.clone()) {
            Some(slice) => Inner::Memory(slice.iter()),
            None => Inner::Buffered(Box::new(Buffered {
                reader,
                front: Vec::new(),
                given: 0,
                back: Window::new(&reader.input),
                left: seqs,
                pass: None,
            })),
        };
        Self {
            reader,
            inner,
            ending: Ending::nothing(),
        }
    }

    /// Returns all events, then the problems with them.
    pub(super) fn verifying(reader: &'a IndexReader) -> Self {
        let mut this = Self::new(reader, 0..reader.event_count());
        this.ending = Ending::Unknown;
        if let Inner::Buffered(buffered) = &mut this.inner {
            buffered.pass = Pass::new(reader);
        }
        this
    }

    /// Returns the next problem, after the last event.
    #[cold]
    fn problem(&mut self) -> Option<Result<IndexEvent>> {
        let Self {
            reader,
            inner,
            ending,
        } = self;
        let problems = || {
            let pass = match inner {
                Inner::Memory(_) => None,
                Inner::Buffered(buffered) => buffered.pass.take(),
            };
            let completed = pass.map_or(Ok(()), |pass| pass.complete(reader));
            // Read what the pass did not see: events in memory, and those taken from the back.
            let scanned = completed.and_then(|()| reader.scan());
            let mut problems = reader.problems();
            problems.extend(scanned.err());
            problems
        };
        ending.next(problems).map(Err)
    }

    /// Ends the iteration after a read error.
    #[cold]
    fn fail(&mut self, error: Error) -> Result<IndexEvent> {
        self.ending = Ending::nothing();
        Err(error)
    }
}

impl Buffered<'_> {
    #[inline]
    fn next(&mut self) -> Option<Result<IndexEvent>> {
        if self.given >= self.front.len() {
            if self.left.is_empty() {
                return None;
            }
            if let Err(error) = self.fill() {
                self.left = 0..0;
                return Some(Err(error));
            }
        }
        let record = self.front.get(self.given)?;
        self.given = self.given.wrapping_add(1);
        Some(Ok(self.reader.decode(record)))
    }

    /// Buffers the next events, at least one.
    #[cold]
    fn fill(&mut self) -> Result<()> {
        let size = self.front.len().saturating_mul(2).clamp(FIRST, MOST);
        let left = self.left.end.saturating_sub(self.left.start);
        let size = usize::try_from(left).map_or(size, |left| left.min(size));
        self.front.resize(size, [0; IndexEvent::SIZE]);
        self.given = 0;
        let read = self.reader.read_records(self.left.start, &mut self.front);
        self.front.truncate(*read.as_ref().unwrap_or(&0));
        self.left.start = self.left.start.saturating_add(read? as u64);
        if let Some(pass) = &mut self.pass {
            pass.add(self.reader, &self.front);
        }
        Ok(())
    }

    fn next_back(&mut self) -> Option<Result<IndexEvent>> {
        // Taken from the back: the pass no longer sees all events in order.
        self.pass = None;
        let Some(seq) = self.left.next_back() else {
            let last = self.front.pop().filter(|_| self.given <= self.front.len());
            return last.map(|record| Ok(self.reader.decode(&record)));
        };
        let bytes = self.back.record_backward(self.reader.offset_of(seq));
        let bytes = bytes.inspect_err(|_| {
            self.left = 0..0;
            self.front.clear();
        });
        Some(bytes.map(|bytes| self.reader.decode(&bytes)))
    }
}

impl Iterator for Events<'_> {
    type Item = Result<IndexEvent>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let item = match &mut self.inner {
            Inner::Memory(events) => events.next().map(Ok),
            Inner::Buffered(buffered) => buffered.next(),
        };
        match item {
            Some(Ok(event)) => Some(Ok(event)),
            Some(Err(error)) => Some(self.fail(error)),
            None => self.problem(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        // An error ends the iteration early; problems follow the last event.
        let (least, most) = match &self.inner {
            Inner::Memory(events) => events.size_hint(),
            Inner::Buffered(buffered) => {
                let at_hand = buffered.front.len().saturating_sub(buffered.given);
                let left = buffered.left.size_hint().1;
                (0, left.and_then(|left| left.checked_add(at_hand)))
            }
        };
        let most = most.zip(self.ending.count());
        (
            least,
            most.and_then(|(events, problems)| events.checked_add(problems)),
        )
    }
}

impl DoubleEndedIterator for Events<'_> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        let item = match &mut self.inner {
            Inner::Memory(events) => events.next_back().map(Ok),
            Inner::Buffered(buffered) => buffered.next_back(),
        };
        match item {
            Some(Ok(event)) => Some(Ok(event)),
            Some(Err(error)) => Some(self.fail(error)),
            None => self.problem(),
        }
    }
}

impl FusedIterator for Events<'_> {}
