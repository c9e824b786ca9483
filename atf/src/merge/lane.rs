//! The stream of one thread's events.

use super::MergedEvent;
use super::feed::{Feed, share};
use crate::error::Error;
use crate::index::timestamp_ns;
use crate::index::{IndexEvent, Record};
use crate::sys;
use crate::wire::Wire;

/// How many records to prefetch, in total and for each thread. With several threads, the processor
/// does not detect that the records of each are read sequentially.
const PREFETCHED: usize = 512;
const NEAR: (usize, usize) = (4, 16);
/// The maximum number of threads whose verified blocks, and the next ones, all stay in the cache.
const FEW: usize = 64;

/// One thread's stream of events.
#[derive(Debug)]
pub(super) struct Lane<'m> {
    feed: Feed<'m>,
    /// The position, in the available records, of the next event to return.
    at: usize,
    /// The position of the first event that is not yet ordered.
    head: usize,
    /// The position after the last selected event.
    end: usize,
    session: u32,
    thread: u32,
    thread_id: u32,
    wire: Wire,
    /// How many events ahead to prefetch records.
    ahead: usize,
}

impl<'m> Lane<'m> {
    /// Creates the lane of one of this many threads.
    pub(super) fn new(feed: Feed<'m>, threads: usize) -> Self {
        let thread = &feed.thread;
        let header = thread.index.header();
        let near = share(PREFETCHED, threads, NEAR);
        // Prefetch a whole block before it is verified.
        let block = feed.verified_at_once().filter(|_| threads <= FEW);
        Self {
            at: 0,
            head: 0,
            end: 0,
            session: thread.session,
            thread: thread.id,
            thread_id: header.thread_id,
            wire: header.wire,
            ahead: block.unwrap_or(near),
            feed,
        }
    }

    /// Returns the next event, which must already be ordered.
    #[inline(always)]
    pub(super) fn take(&mut self) -> Option<MergedEvent> {
        let at = self.at;
        let record = self.feed.records().get(at)?;
        self.at = at.wrapping_add(1);
        Some(self.event(at, record))
    }

    /// Passes on the next `count` events, which must already be ordered.
    #[inline(always)]
    pub(super) fn fold<B>(
        &mut self,
        count: usize,
        init: B,
        mut f: impl FnMut(B, MergedEvent) -> B,
    ) -> B {
        if count == 1 {
            return match self.take() {
                Some(event) => f(init, event),
                None => init,
            };
        }
        let at = self.at;
        self.at = at.wrapping_add(count);
        let records = self.feed.records().get(at..self.at).unwrap_or_default();
        let events = records.iter().zip(at..);
        events.fold(init, |all, (record, at)| f(all, self.event(at, record)))
    }

    #[inline(always)]
    fn event(&self, at: usize, record: &Record) -> MergedEvent {
        MergedEvent {
            session: self.session,
            thread: self.thread,
            seq: self.feed.first_seq.wrapping_add(at as u64),
            event: IndexEvent::decode(self.wire, self.thread_id, record),
        }
    }

    /// Returns the available events that are not yet ordered.
    #[inline]
    fn waiting(&self) -> &[Record] {
        let records = self.feed.records().get(self.head..self.end);
        records.unwrap_or_default()
    }

    /// Returns the time of the event that is `after` positions after the first unordered one, if
    /// that event is available.
    #[inline(always)]
    pub(super) fn time(&self, after: usize) -> Option<u64> {
        let place = self.head.wrapping_add(after);
        if place >= self.end {
            return None;
        }
        self.feed.records().get(place).map(timestamp_ns)
    }

    /// Returns whether any available events are not yet ordered.
    #[inline(always)]
    pub(super) fn is_waiting(&self) -> bool {
        self.head < self.end
    }

    /// Moves past the first unordered event, now that its place in the merged order is known.
    #[inline(always)]
    pub(super) fn pass(&mut self) {
        self.head = self.head.wrapping_add(1);
        if let Some(ahead) = self.feed.records().get(self.head.wrapping_add(self.ahead)) {
            sys::prefetch(ahead);
        }
    }

    /// Moves past the first unordered event and up to `most` events after it that are not later
    /// than `last`. Returns the number of events passed.
    pub(super) fn pass_run(&mut self, last: u64, most: usize) -> usize {
        let rest = self.waiting().iter().skip(1).take(most);
        let rest = rest.take_while(|record| timestamp_ns(record) <= last);
        let count = rest.count().saturating_add(1);
        self.head = self.head.saturating_add(count);
        count
    }

    /// Loads the next events, if any, once all available ones have been returned.
    pub(super) fn refill(&mut self) -> Result<(), Error> {
        (self.at, self.head, self.end) = (0, 0, 0);
        let places = self.feed.next()?;
        (self.at, self.head, self.end) = (places.start, places.start, places.end);
        Ok(())
    }

    /// Returns the maximum number of events that can still come.
    pub(super) fn left(&self) -> u64 {
        let at_hand = self.end.saturating_sub(self.at) as u64;
        self.feed.left().saturating_add(at_hand)
    }
}
