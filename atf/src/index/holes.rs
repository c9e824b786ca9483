//! Holes: blocks of zeros among the events.

use std::iter::FusedIterator;
use std::ops::Range;

use super::event::{EVENT_SIZE, is_zero};
use super::{IndexEvent, IndexReader};
use crate::error::Result;
use crate::window::Window;

impl IndexReader {
    /// Finds the holes (blocks that never reached the disk and therefore read as zeros) in one pass
    /// over the file. If a matching checksum shows that the zeros were written, there are no holes.
    #[must_use]
    pub fn holes(&self) -> impl FusedIterator<Item = Result<Hole>> {
        Holes::new(self)
    }

    /// Returns whether an event with these bytes is in a hole: the bytes are all zeros, and no
    /// checksum proves that zeros were written.
    ///
    /// # Errors
    ///
    /// The errors of [`checksum`](Self::checksum), which runs at the first all-zero event.
    #[inline]
    pub fn is_hole(&self, event: &[u8; IndexEvent::SIZE]) -> Result<bool> {
        Ok(is_zero(event) && !self.checksum()?.proves_the_events())
    }
}

/// Consecutive all-zero events, from blocks that never reached the disk. This struct is exhaustive,
/// because a range of positions has no other fields.
///
/// Events after a hole keep their positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hole {
    /// The position of the first event.
    pub seq: u64,
    /// The number of events.
    pub count: u64,
}

/// An iterator over the holes in a file, in order, which finds them in one pass and ends after an
/// error.
#[derive(Debug)]
struct Holes<'a> {
    reader: &'a IndexReader,
    window: Window<'a>,
    events_offset: u64,
    is_first: bool,
    /// The positions that remain to be searched.
    left: Range<u64>,
}

impl<'a> Holes<'a> {
    pub(super) fn new(reader: &'a IndexReader) -> Self {
        let events_offset = reader.header().events_offset;
        let left = events_offset..reader.events_end();
        Self {
            reader,
            is_first: true,
            window: Window::new(&reader.input),
            events_offset,
            left,
        }
    }

    /// Advances to the next all-zero event if `zero` is true, and otherwise to the next event that
    /// is not all zeros. Returns its position.
    fn find(&mut self, zero: bool) -> Result<u64> {
        while !self.left.is_empty() {
            let bytes = self.window.record(self.left.start)?;
            if is_zero(bytes) == zero {
                break;
            }
            self.left.start = self.left.start.saturating_add(EVENT_SIZE);
        }
        Ok(self.left.start.saturating_sub(self.events_offset) / EVENT_SIZE)
    }

    fn hole(&mut self) -> Result<Option<Hole>> {
        // If the events match the checksum, any zeros among them were written.
        if std::mem::take(&mut self.is_first) && self.reader.checksum()?.proves_the_events() {
            self.left.start = self.left.end;
        }
        let seq = self.find(true)?;
        let count = self.find(false)?.saturating_sub(seq);
        Ok((count > 0).then_some(Hole { seq, count }))
    }
}

impl Iterator for Holes<'_> {
    type Item = Result<Hole>;

    fn next(&mut self) -> Option<Self::Item> {
        let item = self.hole().transpose();
        if matches!(item, Some(Err(_))) {
            self.left.start = self.left.end;
        }
        item
    }
}

impl FusedIterator for Holes<'_> {}
