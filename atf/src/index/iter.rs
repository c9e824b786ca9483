//! Events one after the other.

use std::iter::FusedIterator;
use std::ops::Range;

use super::{IndexEvent, IndexReader, SliceIter};
use crate::error::Result;
use crate::window::Window;

/// Looks events up through a buffer: for many lookups that lie near one another, or ascend.
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

    /// The event at position `seq`, or `None` behind the last one.
    ///
    /// # Errors
    ///
    /// As [`IndexReader::get`].
    #[inline]
    pub fn get(&mut self, seq: u64) -> Result<Option<IndexEvent>> {
        let Some(bytes) = self.bytes(seq)? else {
            return Ok(None);
        };
        Ok(Some(self.reader.decode(&bytes)))
    }

    /// The bytes of the event at position `seq` as they stand in the file, reserved ones
    /// included, or `None` behind the last one.
    ///
    /// # Errors
    ///
    /// As [`IndexReader::get`].
    pub fn bytes(&mut self, seq: u64) -> Result<Option<[u8; IndexEvent::SIZE]>> {
        self.reader
            .event_offset(seq)
            .map(|offset| self.window.record(offset))
            .transpose()
    }
}

/// The events of a range in the file's order, holes included, from either end; ends after an
/// error.
///
/// Made by [`IndexReader::events`] and [`IndexReader::events_in`].
#[derive(Debug)]
pub struct Events<'a>(Inner<'a>);

#[derive(Debug)]
enum Inner<'a> {
    Memory(SliceIter<'a>),
    Windows(Box<Windows<'a>>),
}

/// The two ends have a buffer each, so that looks at both by turns read nothing twice.
#[derive(Debug)]
struct Windows<'a> {
    reader: &'a IndexReader,
    front: Window<'a>,
    back: Window<'a>,
    /// The positions of the events that are left.
    left: Range<u64>,
}

impl<'a> Events<'a> {
    pub(super) fn new(reader: &'a IndexReader, seqs: Range<u64>) -> Self {
        Self(match reader.slice(seqs.clone()) {
            Some(slice) => Inner::Memory(slice.iter()),
            None => Inner::Windows(Box::new(Windows {
                reader,
                front: Window::new(&reader.input),
                back: Window::new(&reader.input),
                left: seqs,
            })),
        })
    }
}

impl Windows<'_> {
    fn next(&mut self) -> Option<Result<IndexEvent>> {
        let seq = self.left.next()?;
        let bytes = self.front.record(self.reader.offset_of(seq));
        Some(self.event(bytes))
    }

    fn next_back(&mut self) -> Option<Result<IndexEvent>> {
        let seq = self.left.next_back()?;
        let bytes = self.back.record_backward(self.reader.offset_of(seq));
        Some(self.event(bytes))
    }

    fn event(&mut self, bytes: Result<[u8; IndexEvent::SIZE]>) -> Result<IndexEvent> {
        let bytes = bytes.inspect_err(|_| self.left = 0..0)?;
        Ok(self.reader.decode(&bytes))
    }
}

impl Iterator for Events<'_> {
    type Item = Result<IndexEvent>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Inner::Memory(events) => events.next().map(Ok),
            Inner::Windows(windows) => windows.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.0 {
            Inner::Memory(events) => events.size_hint(),
            // An error ends the iteration early.
            Inner::Windows(windows) => (0, windows.left.size_hint().1),
        }
    }
}

impl DoubleEndedIterator for Events<'_> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Inner::Memory(events) => events.next_back().map(Ok),
            Inner::Windows(windows) => windows.next_back(),
        }
    }
}

impl FusedIterator for Events<'_> {}
