//! Events of a time range, found by their order.

use std::iter::FusedIterator;
use std::ops::{Bound, Range, RangeBounds, RangeInclusive};

use super::{Events, IndexEvent, IndexReader};
use crate::error::Result;

/// So few events are looked at one after the other: they stand in one or two pages.
const NEAR: u64 = 16;

impl IndexReader {
    /// The positions of the events whose timestamps, in nanoseconds, lie in `time`; `None` where
    /// time goes back in the file, so that they need not stand together.
    ///
    /// The first call [scans](Self::scan) the whole file, once, to know that it is ordered. After
    /// that a call looks at a handful of events: it guesses by the timestamps at both ends of what
    /// is left, and halves it where the guesses do not help, so that it costs a logarithm of the
    /// count at worst.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub fn seq_range(&self, time: impl RangeBounds<u64>) -> Result<Option<Range<u64>>> {
        let scan = self.scan()?;
        if !scan.is_ordered() {
            return Ok(None);
        }
        let (Some(time), Some(ends)) = (inclusive(&time), scan.time_range) else {
            return Ok(Some(0..0));
        };
        let count = self.event_count();
        let find = |from| match self.slice(..) {
            Some(events) => lower_bound(count, ends, from, |seq| {
                let time = usize::try_from(seq)
                    .ok()
                    .and_then(|at| events.timestamp_ns(at));
                Ok(time.unwrap_or(u64::MAX))
            }),
            None => {
                let mut cursor = self.cursor();
                lower_bound(count, ends, from, |seq| {
                    Ok(cursor
                        .get(seq)?
                        .map_or(u64::MAX, |event| event.timestamp_ns))
                })
            }
        };
        let start = find(*time.start())?;
        let end = match time.end().checked_add(1) {
            Some(after) => find(after)?,
            None => count,
        };
        Ok(Some(start..end.max(start)))
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

/// A position and the time that stands there.
#[derive(Clone, Copy)]
struct Known {
    seq: u64,
    time: u64,
}

/// The position of the first of `count` ascending times that is `key` or above; `ends` are the
/// first and the last of them.
///
/// Each round guesses where the key stands between two known times, then once more from there and
/// a bit farther, so that the key is caught between the two. A round that does not halve what is
/// left ends with a look at its middle.
fn lower_bound(
    count: u64,
    ends: (u64, u64),
    key: u64,
    mut time_at: impl FnMut(u64) -> Result<u64>,
) -> Result<u64> {
    if count == 0 || key <= ends.0 {
        return Ok(0);
    }
    if key > ends.1 {
        return Ok(count);
    }
    let last = count.saturating_sub(1);
    // Always below the key, and never.
    let (mut low, mut high) = (
        Known {
            seq: 0,
            time: ends.0,
        },
        Known {
            seq: last,
            time: ends.1,
        },
    );
    let mut look = |seq: u64, low: &mut Known, high: &mut Known| -> Result<()> {
        if seq > low.seq && seq < high.seq {
            let time = time_at(seq)?;
            let end = if time < key { low } else { high };
            *end = Known { seq, time };
        }
        Ok(())
    };
    loop {
        let width = high.seq.saturating_sub(low.seq);
        if width <= NEAR {
            break;
        }
        let rate = width as f64 / high.time.saturating_sub(low.time).max(1) as f64;
        let least = low.seq.saturating_add(1);
        let guess = low
            .seq
            .saturating_add(events(key.saturating_sub(low.time), rate));
        let guess = guess.clamp(least, high.seq.saturating_sub(1));
        look(guess, &mut low, &mut high)?;
        let next = if low.seq == guess {
            let step = events(key.saturating_sub(low.time), rate);
            guess.saturating_add(step).saturating_add(margin(step))
        } else {
            let step = events(high.time.saturating_sub(key), rate);
            guess.saturating_sub(step).saturating_sub(margin(step))
        };
        look(next, &mut low, &mut high)?;
        let left = high.seq.saturating_sub(low.seq);
        if left > width / 2 {
            look(low.seq.saturating_add(left / 2), &mut low, &mut high)?;
        }
    }
    while high.seq.saturating_sub(low.seq) > 1 {
        let middle = high.seq.saturating_sub(low.seq) / 2;
        look(low.seq.saturating_add(middle), &mut low, &mut high)?;
    }
    Ok(high.seq)
}

/// How many events there are in so much time, about.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "only a guess, which the caller keeps in bounds; a cast saturates"
)]
fn events(time: u64, rate: f64) -> u64 {
    (time as f64 * rate) as u64
}

/// By how much such a guess may be wrong where events come at random.
fn margin(step: u64) -> u64 {
    step.isqrt().saturating_mul(2).saturating_add(2)
}
