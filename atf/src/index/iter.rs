//! Events one after the other.

use std::iter::FusedIterator;
use std::ops::Range;

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
    cursor: IndexCursor<'a>,
    left: Range<u64>,
}

impl<'a> Events<'a> {
    pub(super) fn new(reader: &'a IndexReader) -> Self {
        Self {
            cursor: reader.cursor(),
            left: 0..reader.event_count(),
        }
    }
}

impl Iterator for Events<'_> {
    type Item = Result<IndexEvent>;

    fn next(&mut self) -> Option<Self::Item> {
        let item = self.cursor.get(self.left.next()?).transpose();
        if !matches!(item, Some(Ok(_))) {
            self.left = 0..0;
        }
        item
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        // An error ends the iteration early.
        (0, self.left.size_hint().1)
    }
}

impl FusedIterator for Events<'_> {}
