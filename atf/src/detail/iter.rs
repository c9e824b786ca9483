//! Iterates over events.

use std::iter::FusedIterator;
use std::ops::{Range, RangeBounds};

use super::{DetailEvent, DetailReader, FunctionPayload};
use crate::ending::Ending;
use crate::error::Result;
use crate::index::clamp;
use crate::window::Window;

impl DetailReader {
    /// Returns a cursor that looks up events through a buffer.
    #[must_use]
    pub fn cursor(&self) -> DetailCursor<'_> {
        DetailCursor {
            reader: self,
            window: Window::new(&self.input),
        }
    }

    /// Iterates over all events in file order.
    ///
    /// After the last event, the iterator returns an `Err` for each of the
    /// [`problems`](Self::problems). The returned events are all in the file, but others may be
    /// missing, and some may have changed. [`events_in`](Self::events_in) does not verify events.
    #[must_use]
    pub fn events(&self) -> impl FusedIterator<Item = Result<DetailEvent>> {
        Events {
            cursor: self.cursor(),
            left: 0..self.event_count(),
            ending: Ending::UNKNOWN,
        }
    }

    /// Iterates over the events at these positions, without verifying them. Ignores positions after
    /// the last event.
    #[must_use]
    pub fn events_in(
        &self,
        seqs: impl RangeBounds<u64>,
    ) -> impl FusedIterator<Item = Result<DetailEvent>> {
        Events {
            cursor: self.cursor(),
            left: clamp(seqs, self.event_count()),
            ending: Ending::nothing(),
        }
    }
}

/// A cursor that looks up events through a buffer, for many lookups that are close together or
/// ascending.
///
/// Created by [`DetailReader::cursor`].
#[derive(Debug)]
pub struct DetailCursor<'a> {
    reader: &'a DetailReader,
    window: Window<'a>,
}

impl<'a> DetailCursor<'a> {
    /// Returns event `seq`, or `None` after the last one.
    ///
    /// # Errors
    ///
    /// The errors of [`DetailReader::get`].
    #[inline]
    pub fn get(&mut self, seq: u64) -> Result<Option<DetailEvent>> {
        let Some(place) = self.reader.place(seq) else {
            return Ok(None);
        };
        let bytes = self.window.record(place.start)?;
        // Not `map`: otherwise, the event would be copied only after it has been stored.
        match self.reader.event(seq, place, bytes) {
            Ok(event) => Ok(Some(event)),
            Err(error) => Err(error),
        }
    }

    /// Returns the payload of a call or a return, or `None` if the payload has a different shape.
    ///
    /// # Errors
    ///
    /// The errors of [`DetailReader::read_payload`].
    pub fn function_payload(&mut self, event: &DetailEvent) -> Result<Option<FunctionPayload>> {
        let payload = self.possible_payload(event)?;
        Ok(payload.and_then(FunctionPayload::decode))
    }

    /// Returns the payload of an event if its size is possible for a call or a return.
    pub(crate) fn possible_payload(&mut self, event: &DetailEvent) -> Result<Option<&[u8]>> {
        FunctionPayload::possible(event)
            .map(|_| self.payload(event))
            .transpose()
    }

    /// Returns the payload of an event, whose length must be small and must have been checked
    /// against the file.
    #[inline]
    pub(crate) fn payload(&mut self, event: &DetailEvent) -> Result<&[u8]> {
        let size = usize::try_from(event.payload_size()).unwrap_or(usize::MAX);
        self.window.bytes(event.payload_offset(), size)
    }

    /// Returns the available bytes of an event, including its header, from byte `start` on. Returns
    /// at least one byte, except at the event's end.
    pub(crate) fn chunk(&mut self, event: &DetailEvent, start: u64) -> Result<&[u8]> {
        let size = u64::from(event.header.total_length);
        let end = event.offset.saturating_add(size);
        self.window.chunk(event.offset.saturating_add(start), end)
    }
}

/// An iterator over the events in a file, in order, which ends after a read error.
#[derive(Debug)]
struct Events<'a> {
    cursor: DetailCursor<'a>,
    left: Range<u64>,
    ending: Ending,
}

impl Iterator for Events<'_> {
    type Item = Result<DetailEvent>;

    fn next(&mut self) -> Option<Self::Item> {
        let Some(seq) = self.left.next() else {
            let reader = self.cursor.reader;
            let problems = || reader.problems().unwrap_or_else(|error| vec![error]);
            return self.ending.next(problems).map(Err);
        };
        let item = self.cursor.get(seq).transpose();
        if !matches!(item, Some(Ok(_))) {
            self.left = 0..0;
            self.ending = Ending::nothing();
        }
        item
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, self.ending.most(self.left.size_hint().1))
    }
}

impl FusedIterator for Events<'_> {}
