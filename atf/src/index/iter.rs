//! Events one after the other.

use std::iter::FusedIterator;
use std::ops::Range;

use super::event::EVENT_SIZE;
use super::{IndexEvent, IndexReader};
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

/// The events of a file in their order, holes included; ends after an error.
///
/// Made by [`IndexReader::events`].
#[derive(Debug)]
pub struct Events<'a> {
    reader: &'a IndexReader,
    window: Window<'a>,
    /// Where the next event stands, and where the last one ends.
    left: Range<u64>,
}

impl<'a> Events<'a> {
    pub(super) fn new(reader: &'a IndexReader) -> Self {
        let left = reader.header().events_offset..reader.events_end();
        Self {
            reader,
            window: Window::new(&reader.input),
            left,
        }
    }
}

impl Iterator for Events<'_> {
    type Item = Result<IndexEvent>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.left.is_empty() {
            return None;
        }
        match self.window.record(self.left.start) {
            Ok(bytes) => {
                self.left.start = self.left.start.saturating_add(EVENT_SIZE);
                Some(Ok(self.reader.decode(&bytes)))
            }
            Err(error) => {
                self.left.start = self.left.end;
                Some(Err(error))
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.left.end.saturating_sub(self.left.start) / EVENT_SIZE;
        // An error ends the iteration early.
        (0, usize::try_from(left).ok())
    }
}

impl FusedIterator for Events<'_> {}
