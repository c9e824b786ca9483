//! Holes: blocks of zeros among the events.

use std::iter::{self, FusedIterator};
use std::ops::Range;

use super::event::is_zero;
use super::{IndexEvent, IndexReader};
use crate::error::Result;
use crate::window::Window;

impl IndexReader {
    /// Finds the holes (blocks that never reached the disk and therefore read as zeros) in one pass
    /// over the file. If a matching checksum shows that the zeros were written, there are no holes.
    #[must_use]
    pub fn holes(&self) -> impl FusedIterator<Item = Result<Hole>> {
        let mut holes = Holes {
            reader: self,
            window: Window::new(&self.input),
            is_first: true,
            left: 0..self.event_count(),
        };
        let next = move || {
            let hole = holes.next();
            if hole.is_err() {
                holes.left = 0..0;
            }
            hole.transpose()
        };
        iter::from_fn(next).fuse()
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

/// A search for the holes in a file, in order and in one pass.
struct Holes<'a> {
    reader: &'a IndexReader,
    window: Window<'a>,
    is_first: bool,
    /// The positions that remain to be searched.
    left: Range<u64>,
}

impl Holes<'_> {
    /// Advances to the next all-zero event if `zero` is true, and otherwise to the next event that
    /// is not all zeros. Returns its position.
    fn find(&mut self, zero: bool) -> Result<u64> {
        while !self.left.is_empty() {
            let offset = self.reader.offset_of(self.left.start);
            if is_zero(self.window.record(offset)?) == zero {
                break;
            }
            self.left.start = self.left.start.saturating_add(1);
        }
        Ok(self.left.start)
    }

    fn next(&mut self) -> Result<Option<Hole>> {
        // If the events match the checksum, any zeros among them were written.
        if std::mem::take(&mut self.is_first) && self.reader.checksum()?.proves_the_events() {
            self.left.start = self.left.end;
        }
        let seq = self.find(true)?;
        let count = self.find(false)?.saturating_sub(seq);
        Ok((count > 0).then_some(Hole { seq, count }))
    }
}
