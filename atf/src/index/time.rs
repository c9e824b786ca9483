//! Events of a time range, found by their order.

use std::iter::FusedIterator;
use std::num::NonZero;
use std::ops::{Bound, Range, RangeBounds, RangeInclusive};

use super::scan::Scanned;
use super::sparse::Known;
use super::{Events, IndexEvent, IndexReader};
use crate::error::Result;

/// So few events are all looked at: no look waits for the one before.
const NEAR: u64 = 16;

impl IndexReader {
    /// The positions of the events whose timestamps, in nanoseconds, lie in `time`; `None` where
    /// time goes back in the file, so that they need not stand together.
    ///
    /// The first call [scans](Self::scan) the whole file, once, to know that it is ordered, which
    /// also samples timestamps: 8 bytes for every 1024 events or more, 1 MiB at most. After that a
    /// call looks up two samples and a handful of events between them, a logarithm of the count
    /// whatever the times are.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub fn seq_range(&self, time: impl RangeBounds<u64>) -> Result<Option<Range<u64>>> {
        let scanned = self.scanned(NonZero::<usize>::MIN)?;
        if !scanned.scan.is_ordered() {
            return Ok(None);
        }
        let Some(time) = inclusive(&time) else {
            return Ok(Some(0..0));
        };
        let count = self.event_count();
        let find = |key| self.lower_bound(scanned, key);
        let start = find(*time.start())?;
        let end = match time.end().checked_add(1) {
            Some(after) => find(after)?,
            None => count,
        };
        Ok(Some(start..end.max(start)))
    }

    /// The position of the first event at `key` or later.
    fn lower_bound(&self, scanned: &Scanned, key: u64) -> Result<u64> {
        let (Some(low), high) = scanned.sparse.around(key) else {
            return Ok(0);
        };
        // Behind the last sampled event: there are not many, and nothing is guessed.
        let high = high.unwrap_or(Known {
            seq: self.event_count(),
            time: u64::MAX,
        });
        match self.slice(..) {
            Some(events) => between(low, high, key, |seq| {
                let position = usize::try_from(seq).unwrap_or(usize::MAX);
                Ok(events.timestamp_ns(position).unwrap_or(u64::MAX))
            }),
            None => {
                let mut cursor = self.cursor();
                between(low, high, key, |seq| {
                    let event = cursor.get(seq)?;
                    Ok(event.map_or(u64::MAX, |event| event.timestamp_ns))
                })
            }
        }
    }

    /// The events whose timestamps, in nanoseconds, lie in `time`, with their positions, in the
    /// file's order.
    ///
    /// In a file whose order is broken all events are looked at, and none is missed. What the
    /// first call costs says [`seq_range`](Self::seq_range).
    ///
    /// ```
    /// use atf::index::IndexReader;
    /// # let sample = "../samples/sample-small/session_20260105_101500/pid_4242";
    ///
    /// let index = IndexReader::open(format!("{sample}/thread_0/index.atf"))?;
    /// let (start, _) = index.time_range()?.expect("it has events");
    /// for found in index.time_query(start..start + 1_000_000)? {
    ///     let (seq, event) = found?;
    ///     assert_eq!(index.get(seq)?, Some(event));
    /// }
    /// # Ok::<(), atf::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub fn time_query(&self, time: impl RangeBounds<u64>) -> Result<TimeQuery<'_>> {
        let seqs = self.seq_range((time.start_bound().cloned(), time.end_bound().cloned()))?;
        let is_ordered = seqs.is_some();
        let seqs = seqs.unwrap_or(0..self.event_count());
        Ok(TimeQuery {
            next_seq: seqs.start,
            events: self.events_in(seqs),
            filter: inclusive(&time).filter(|_| !is_ordered),
            is_empty: inclusive(&time).is_none(),
        })
    }
}

/// The events of a time range with their positions; ends after an error.
///
/// Made by [`IndexReader::time_query`].
#[derive(Debug)]
pub struct TimeQuery<'a> {
    events: Events<'a>,
    next_seq: u64,
    /// The times to choose by, where the events do not stand together.
    filter: Option<RangeInclusive<u64>>,
    is_empty: bool,
}

impl Iterator for TimeQuery<'_> {
    type Item = Result<(u64, IndexEvent)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_empty {
            return None;
        }
        loop {
            let event = match self.events.next()? {
                Ok(event) => event,
                Err(error) => return Some(Err(error)),
            };
            let seq = self.next_seq;
            self.next_seq = seq.saturating_add(1);
            let filter = self.filter.as_ref();
            if filter.is_none_or(|time| time.contains(&event.timestamp_ns)) {
                return Some(Ok((seq, event)));
            }
        }
    }
}

impl FusedIterator for TimeQuery<'_> {}

/// The first and the last time in a range, or `None` where it has none.
fn inclusive(time: &impl RangeBounds<u64>) -> Option<RangeInclusive<u64>> {
    let first = match time.start_bound() {
        Bound::Included(first) => *first,
        Bound::Excluded(before) => before.checked_add(1)?,
        Bound::Unbounded => 0,
    };
    let last = match time.end_bound() {
        Bound::Included(last) => *last,
        Bound::Excluded(end) => end.checked_sub(1)?,
        Bound::Unbounded => u64::MAX,
    };
    (first <= last).then_some(first..=last)
}

/// The position of the first event at `key` or later: behind `low`, which is before the key, and up
/// to `high`, which is not.
///
/// It guesses by the times of both ends, looks there and to both sides of it at once, and then
/// halves what is left.
fn between(
    mut low: Known,
    mut high: Known,
    key: u64,
    mut time_at: impl FnMut(u64) -> Result<u64>,
) -> Result<u64> {
    let width = high.seq.saturating_sub(low.seq);
    let part = key.saturating_sub(low.time) as f64 / high.time.saturating_sub(low.time) as f64;
    let guess = low.seq.saturating_add(part_of(width, part));
    let margin = width.isqrt();
    for seq in [
        guess.saturating_sub(margin),
        guess,
        guess.saturating_add(margin),
    ] {
        narrow(&mut low, &mut high, key, seq, &mut time_at)?;
    }
    loop {
        let left = high.seq.saturating_sub(low.seq);
        if left <= NEAR {
            break;
        }
        let middle = low.seq.saturating_add(left / 2);
        narrow(&mut low, &mut high, key, middle, &mut time_at)?;
    }
    let first = low.seq.saturating_add(1);
    let mut before = 0_u64;
    for seq in first..high.seq {
        before = before.saturating_add(u64::from(time_at(seq)? < key));
    }
    Ok(first.saturating_add(before))
}

/// Moves one of two ends to an event between them.
#[inline]
fn narrow(
    low: &mut Known,
    high: &mut Known,
    key: u64,
    seq: u64,
    time_at: &mut impl FnMut(u64) -> Result<u64>,
) -> Result<()> {
    if seq > low.seq && seq < high.seq {
        let time = time_at(seq)?;
        let end = if time < key { low } else { high };
        *end = Known { seq, time };
    }
    Ok(())
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "only a guess, which the caller keeps in bounds; a cast saturates"
)]
fn part_of(width: u64, part: f64) -> u64 {
    (width as f64 * part) as u64
}
