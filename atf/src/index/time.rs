//! Searches ordered events for a time range.

use std::iter::FusedIterator;
use std::num::NonZero;
use std::ops::{Bound, Range, RangeBounds, RangeInclusive};

use super::sparse::Known;
use super::{IndexEvent, IndexReader};
use crate::error::Result;

/// How many events a search looks up at a time.
const LOOKS: usize = 7;

impl IndexReader {
    /// Returns the positions of the events whose timestamps, in nanoseconds, are in `time`. Returns
    /// `None` if timestamps decrease anywhere in the file, because the events may then be
    /// scattered.
    ///
    /// The first call [scans](Self::scan) the whole file once to check the order. It also samples
    /// the timestamp of every 1024th event, or of fewer events in a very large file. A sample takes
    /// 8 bytes; all samples together take at most 1 MiB. Later calls search the samples and then
    /// the events between two samples, seven at a time. The cost is logarithmic in the number of
    /// events, regardless of how the times are distributed.
    ///
    /// # Errors
    ///
    /// The errors of [`get`](Self::get).
    pub fn seq_range(&self, time: impl RangeBounds<u64>) -> Result<Option<Range<u64>>> {
        let scanned = self.scanned(NonZero::<usize>::MIN)?;
        if !scanned.scan.is_ordered() {
            return Ok(None);
        }
        let Some(time) = inclusive(&time) else {
            return Ok(Some(0..0));
        };
        let count = self.event_count();
        let end_of_file = Known::new(count, u64::MAX);
        let search = |key| Search::new(key, scanned.sparse.around(key), end_of_file);
        let start = search(*time.start());
        let end = match time.end().checked_add(1) {
            Some(after) => search(after),
            // Without an upper bound, no search is needed.
            None => Search::new(u64::MAX, (None, None), end_of_file),
        };
        let [start, end] = match self.slice(..) {
            Some(events) => find([start, end], |seq| {
                let position = usize::try_from(seq).unwrap_or(usize::MAX);
                Ok(events.timestamp_ns(position).unwrap_or(u64::MAX))
            })?,
            None => {
                let mut cursor = self.cursor();
                let mut time_at = |seq| {
                    let event = cursor.get(seq)?;
                    Ok(event.map_or(u64::MAX, |event| event.timestamp_ns))
                };
                // Search for the bounds one after the other, so that each search stays within the
                // cursor's buffer.
                let [start] = find([start], &mut time_at)?;
                let [end] = find([end], &mut time_at)?;
                [start, end]
            }
        };
        let end = match *time.end() {
            u64::MAX => count,
            _ => end,
        };
        Ok(Some(start..end.max(start)))
    }

    /// Like [`seq_range`](Self::seq_range), but without a pass over the file: reads a few events
    /// or, for a file outside `time`, only its ends (S1). Returns `None` unless the file appears to
    /// be in order: the file must be finalized; its header, footer, first event and last event must
    /// agree on its times; and the events that the search reads must be in order.
    ///
    /// Writers must keep events in order, but only reading all events can prove that they did.
    /// Until the file is [verified](Self::known_checksum), rely on the result only if you trust the
    /// writer.
    ///
    /// # Errors
    ///
    /// The errors of [`get`](Self::get).
    pub fn seek(&self, time: impl RangeBounds<u64>) -> Result<Option<Range<u64>>> {
        if self.known_scan().is_some() {
            return self.seq_range((time.start_bound().cloned(), time.end_bound().cloned()));
        }
        let Some((first, last)) = self.proven_times()? else {
            return Ok(None);
        };
        let Some(time) = inclusive(&time) else {
            return Ok(Some(0..0));
        };
        let count = self.event_count();
        let last = Known::new(count.saturating_sub(1), last);
        let ends = (Known::new(0, first), last);
        let Some(start) = self.first_at(*time.start(), ends)? else {
            return Ok(None);
        };
        let end = match time.end().checked_add(1) {
            Some(after) => self.first_at(after, ends)?,
            None => Some(count),
        };
        Ok(end.map(|end| start..end.max(start)))
    }

    /// Returns the times of the first and the last event if header, footer and events agree on
    /// them.
    fn proven_times(&self) -> Result<Option<(u64, u64)>> {
        let (header, Some(footer)) = (self.header(), self.footer()) else {
            return Ok(None);
        };
        let stated = (footer.time_start_ns, footer.time_end_ns);
        let agrees = (header.time_start_ns, header.time_end_ns) == stated
            && header.event_count == footer.event_count
            && self.event_count() > 0;
        let is_proven = agrees && stated.0 <= stated.1 && self.time_range()? == Some(stated);
        Ok(is_proven.then_some(stated))
    }

    /// Returns the position of the first event at `key` or later, between two events whose times
    /// are known. Returns `None` if the search finds an event out of order.
    fn first_at(&self, key: u64, (first, last): (Known, Known)) -> Result<Option<u64>> {
        if key <= first.time {
            return Ok(Some(first.seq));
        }
        if key > last.time {
            return Ok(Some(last.seq.saturating_add(1)));
        }
        let mut looked = vec![first, last];
        let search = Search::new(key, (Some(first), Some(last)), last);
        let [seq] = find([search], |seq| {
            let time = self.get(seq)?.map_or(u64::MAX, |event| event.timestamp_ns);
            looked.push(Known { seq, time });
            Ok(time)
        })?;
        looked.sort_unstable_by_key(|known| known.seq);
        let is_ordered = looked.is_sorted_by_key(|known| known.time);
        Ok(is_ordered.then_some(seq))
    }

    /// Returns the events whose timestamps, in nanoseconds, are in `time`, with their positions, in
    /// file order.
    ///
    /// If the file is out of order, every event is checked, so that none is missed. The first call
    /// costs the same as the first call of [`seq_range`](Self::seq_range).
    ///
    /// ```
    /// use atf::index::IndexReader;
    #[doc = include_str!("../doc_setup/thread.md")]
    /// let index = IndexReader::open(folder.join("index.atf"))?;
    /// let (start, _) = index.time_range()?.expect("it has events");
    /// for found in index.time_query(start..start + 100)? {
    ///     let (seq, event) = found?;
    ///     assert_eq!(index.get(seq)?, Some(event));
    /// }
    /// # Ok::<(), atf::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`get`](Self::get).
    pub fn time_query(
        &self,
        time: impl RangeBounds<u64>,
    ) -> Result<impl FusedIterator<Item = Result<(u64, IndexEvent)>>> {
        let found = self.seq_range((time.start_bound().cloned(), time.end_bound().cloned()))?;
        let time = inclusive(&time);
        // Events that may be scattered are examined one by one.
        let filter = time.clone().filter(|_| found.is_none());
        let seqs = match time {
            Some(_) => found.unwrap_or(0..self.event_count()),
            None => 0..0,
        };
        let events = (seqs.start..).zip(self.events_in(seqs));
        let events = events.map(|(seq, event)| Ok((seq, event?)));
        let is_wanted = move |found: &Result<(u64, IndexEvent)>| match (found, &filter) {
            (Ok((_, event)), Some(time)) => time.contains(&event.timestamp_ns),
            _ => true,
        };
        Ok(events.filter(is_wanted).fuse())
    }
}

/// Returns the first and the last time in a range, or `None` if it is empty.
pub(crate) fn inclusive(time: &impl RangeBounds<u64>) -> Option<RangeInclusive<u64>> {
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

/// Returns the positions that the searches find. The searches run in lockstep, so that their memory
/// accesses overlap.
fn find<const N: usize>(
    mut searches: [Search; N],
    mut time_at: impl FnMut(u64) -> Result<u64>,
) -> Result<[u64; N]> {
    let mut places = searches.each_ref().map(Search::guesses);
    loop {
        let mut looks = [[Known::new(0, 0); LOOKS]; N];
        let places_of_all = places.as_flattened();
        for (known, seq) in looks.as_flattened_mut().iter_mut().zip(places_of_all) {
            *known = Known::new(*seq, time_at(*seq)?);
        }
        for (search, looks) in searches.iter_mut().zip(looks) {
            search.narrow(looks);
        }
        let found = searches.each_ref().map(Search::found);
        if found.iter().all(Option::is_some) {
            return Ok(found.map(Option::unwrap_or_default));
        }
        places = searches.each_ref().map(Search::even_parts);
    }
}

/// A search for the first event at `key` or later.
#[derive(Debug)]
struct Search {
    key: u64,
    /// An event before the key; `None` if there is no such event.
    low: Option<Known>,
    /// An event at or after the key, or the end of the file.
    high: Known,
}

impl Search {
    /// Creates a search between two known events or, after the last known event, up to the end of
    /// the file, where few events remain.
    fn new(key: u64, (low, high): (Option<Known>, Option<Known>), end: Known) -> Self {
        let high = high.unwrap_or(end);
        Self { key, low, high }
    }

    /// Returns both ends, or the upper end twice if there is no lower end.
    fn ends(&self) -> (Known, Known) {
        (self.low.unwrap_or(self.high), self.high)
    }

    /// Interpolates the position from the times of both ends, and adds positions on both sides:
    /// close ones for evenly or randomly distributed times, and more distant ones for other
    /// distributions.
    fn guesses(&self) -> [u64; LOOKS] {
        let (low, high) = self.ends();
        let width = high.seq.saturating_sub(low.seq);
        let time = high.time.saturating_sub(low.time);
        let part = self.key.saturating_sub(low.time) as f64 / time as f64;
        let guess = low.seq.saturating_add(part_of(width, part));
        let margin = width.isqrt();
        let (far, near) = (margin.saturating_mul(4), margin / 2);
        [
            guess.saturating_sub(far),
            guess.saturating_sub(margin),
            guess.saturating_sub(near),
            guess,
            guess.saturating_add(near),
            guess.saturating_add(margin),
            guess.saturating_add(far),
        ]
        .map(|seq| seq.clamp(low.seq, high.seq))
    }

    /// Returns positions that divide the remaining range into equal parts.
    fn even_parts(&self) -> [u64; LOOKS] {
        let (low, high) = self.ends();
        let width = high.seq.saturating_sub(low.seq);
        [1, 2, 3, 4, 5, 6, 7].map(|part| low.seq.saturating_add(width.saturating_mul(part) / 8))
    }

    /// Moves the ends to the nearest events that were looked up.
    #[inline]
    fn narrow(&mut self, looks: [Known; LOOKS]) {
        let Some(mut low) = self.low else { return };
        for known in looks {
            let is_before = known.time < self.key;
            if is_before && known.seq > low.seq {
                low = known;
            }
            if !is_before && known.seq < self.high.seq {
                self.high = known;
            }
        }
        self.low = Some(low);
    }

    /// Returns the position if the ends are adjacent.
    fn found(&self) -> Option<u64> {
        match self.low {
            None => Some(0),
            Some(low) if low.seq.saturating_add(1) >= self.high.seq => Some(self.high.seq),
            Some(_) => None,
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "only a guess, which the caller keeps in bounds; a cast saturates"
)]
fn part_of(width: u64, part: f64) -> u64 {
    (width as f64 * part) as u64
}
