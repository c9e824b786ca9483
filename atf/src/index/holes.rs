//! Blocks of zeros among the events.

use std::iter::FusedIterator;

use super::{IndexCursor, IndexEvent, IndexReader};
use crate::error::Result;

/// Events in a row that are nothing but zeros: blocks that never reached the disk.
///
/// The events behind a hole keep their positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hole {
    /// The position of the first.
    pub seq: u64,
    /// How many.
    pub count: u64,
}

/// The holes of a file in their order, found in one pass; ends after an error.
///
/// Made by [`IndexReader::holes`].
#[derive(Debug)]
pub struct Holes<'a> {
    cursor: IndexCursor<'a>,
    next: u64,
    end: u64,
}

impl<'a> Holes<'a> {
    pub(super) fn new(reader: &'a IndexReader) -> Self {
        Self {
            cursor: reader.cursor(),
            next: 0,
            end: reader.event_count(),
        }
    }

    /// The position of the next event from `next` on that is, or is not, nothing but zeros.
    fn find(&mut self, zero: bool) -> Result<u64> {
        while self.next < self.end {
            let bytes = self.cursor.bytes(self.next)?;
            if bytes.is_some_and(|bytes| (bytes == [0; IndexEvent::SIZE]) == zero) {
                break;
            }
            self.next = self.next.saturating_add(1);
        }
        Ok(self.next)
    }

    fn hole(&mut self) -> Result<Option<Hole>> {
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
            self.end = self.next;
        }
        item
    }
}

impl FusedIterator for Holes<'_> {}
