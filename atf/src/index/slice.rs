//! Events in memory, accessed in place.

use std::iter::FusedIterator;
use std::ops::{Bound, Range, RangeBounds};

use super::{IndexEvent, event};
use crate::wire::Wire;

/// The bytes of one event.
pub(crate) type Record = [u8; IndexEvent::SIZE];

/// Consecutive events as they are stored in the file, accessed without copying them.
///
/// Created by [`IndexReader::slice`](super::IndexReader::slice) and
/// [`EventBlocks`](super::EventBlocks). Events are decoded on access.
#[derive(Debug, Clone, Copy)]
pub struct EventSlice<'a> {
    wire: Wire,
    thread_id: u32,
    events: &'a [Record],
}

impl<'a> EventSlice<'a> {
    /// Creates a slice of the whole events in `bytes`, ignoring a partial event at the end. The
    /// file's header supplies `wire` and `thread_id`. Any bytes are valid.
    #[must_use]
    pub fn new(wire: Wire, thread_id: u32, bytes: &'a [u8]) -> Self {
        Self {
            wire,
            thread_id,
            events: bytes.as_chunks().0,
        }
    }

    /// Returns the number of events.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Returns whether there are no events.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Returns the wire version.
    #[must_use]
    pub fn wire(&self) -> Wire {
        self.wire
    }

    /// Returns the event at `position` in this slice, or `None` after the last one.
    #[must_use]
    #[inline]
    pub fn get(&self, position: usize) -> Option<IndexEvent> {
        let bytes = self.events.get(position)?;
        Some(IndexEvent::decode(self.wire, self.thread_id, bytes))
    }

    /// Returns the timestamp of the event at `position` in nanoseconds, without decoding the rest
    /// of the event.
    #[must_use]
    #[inline]
    pub fn timestamp_ns(&self, position: usize) -> Option<u64> {
        self.events.get(position).map(event::timestamp_ns)
    }

    /// Returns the first event.
    #[must_use]
    pub fn first(&self) -> Option<IndexEvent> {
        self.get(0)
    }

    /// Returns the last event.
    #[must_use]
    pub fn last(&self) -> Option<IndexEvent> {
        self.get(self.len().checked_sub(1)?)
    }

    /// Returns the events at these positions. Ignores positions after the last event.
    #[must_use]
    pub fn slice(&self, positions: impl RangeBounds<usize>) -> Self {
        let bound = |bound: Bound<&usize>| bound.map(|position| *position as u64);
        let positions = (bound(positions.start_bound()), bound(positions.end_bound()));
        let Range { start, end } = clamp(positions, self.len() as u64);
        let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
        let events = range.and_then(|(start, end)| self.events.get(start..end));
        Self {
            events: events.unwrap_or_default(),
            ..*self
        }
    }

    /// Iterates over the events in order, from either end.
    #[must_use]
    pub fn iter(
        &self,
    ) -> impl ExactSizeIterator<Item = IndexEvent> + DoubleEndedIterator + FusedIterator + use<'a>
    {
        let (wire, thread_id) = (self.wire, self.thread_id);
        let decode = move |bytes| IndexEvent::decode(wire, thread_id, bytes);
        self.events.iter().map(decode)
    }

    /// Returns the bytes as they are in the file.
    #[must_use]
    pub fn as_bytes(&self) -> &'a [u8] {
        self.events.as_flattened()
    }

    pub(super) fn records(&self) -> &'a [Record] {
        self.events
    }
}

/// Returns the part of `0..count` that is within `range`.
pub(crate) fn clamp(range: impl RangeBounds<u64>, count: u64) -> Range<u64> {
    let start = match range.start_bound() {
        Bound::Included(start) => *start,
        Bound::Excluded(before) => before.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(last) => last.saturating_add(1),
        Bound::Excluded(end) => *end,
        Bound::Unbounded => count,
    };
    let end = end.min(count);
    start.min(end)..end
}
