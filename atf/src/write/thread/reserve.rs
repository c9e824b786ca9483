//! Details that are reserved with their index event and later written or dropped.
//!
//! A detail's position in its file is its `detail_seq`, so dropping a detail shifts all later ones.
//! The links of buffered index events are adjusted. Events already in the file are never rewritten:
//! their links remain, and a detail without a payload takes the dropped detail's place.

use std::collections::VecDeque;
use std::ops::Range;

use super::ThreadWriter;
use super::check::{COUNTER, RESERVATION};
use super::push::with_payload;
use crate::error::{Error, ErrorKind, Result};
use crate::index::IndexEvent;
use crate::wire::EventKind;
use crate::write::{Detail, Event};

/// How many details may be reserved but not yet written. They take 32 MiB of memory.
const MOST_RESERVATIONS: usize = 1 << 20;

/// The reserved details, and the numbers by which callers refer to them.
#[derive(Debug, Default)]
pub(super) struct Reservations {
    /// The oldest reservation comes first. A detail's position in the file is the number of details
    /// written plus its index in this queue. The first reservation is never a dropped one.
    queue: VecDeque<Reservation>,
    /// How many of the numbers used so far do not correspond to a position in the file.
    skipped: u64,
    pub(super) dropped: u64,
}

impl Reservations {
    /// Returns the number of details that are neither written nor dropped.
    pub(super) fn open(&self) -> u64 {
        let open = self.queue.iter().filter(|reserved| !reserved.is_dropped);
        open.count() as u64
    }
}

/// The values that a detail must share with its index event.
#[derive(Debug, Clone, Copy)]
struct Reservation {
    /// The number under which the detail was reserved.
    number: u64,
    index_seq: u64,
    timestamp_ns: u64,
    event_kind: EventKind,
    /// Whether a detail without a payload will take this detail's place once all earlier ones are
    /// written.
    is_dropped: bool,
}

/// A reserved detail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReservedDetail {
    /// The number under which the detail was reserved.
    pub detail_seq: u64,
    /// The timestamp of the detail's index event in nanoseconds. The detail must have the same
    /// timestamp.
    pub timestamp_ns: u64,
    /// The kind of the detail's index event.
    pub event_kind: EventKind,
}

impl ThreadWriter {
    /// Returns the number that the next reserved detail gets: the number of details before it,
    /// including dropped ones. If no detail was dropped, this is its position in `detail.atf`.
    #[must_use]
    pub fn next_detail_seq(&self) -> u64 {
        self.next_detail_place()
            .saturating_add(self.reserved.skipped)
    }

    pub(super) fn next_detail_place(&self) -> u64 {
        self.detail_count
            .saturating_add(self.reserved.queue.len() as u64)
    }

    /// Writes an event and optionally reserves its detail, to be written later with
    /// [`write_detail`](Self::write_detail). Together, the two calls are equivalent to
    /// [`write_with_detail`](Self::write_with_detail), for tracers that handle events and details
    /// separately (S3). If the process is killed in between, the event's link dangles.
    ///
    /// # Errors
    ///
    /// The errors of [`write`](Self::write); [`ErrorKind::Disagrees`] at `detail_seq` if it is not
    /// [`next_detail_seq`](Self::next_detail_seq), [`ErrorKind::LimitReached`] at `detail_count`,
    /// and [`ErrorKind::TooManyReservations`] if 2²⁰ details are reserved but not yet written.
    #[inline]
    pub fn write_index(&mut self, event: &Event, detail_seq: Option<u64>) -> Result<u64> {
        match detail_seq {
            Some(number) => self.write_and_reserve(event, number),
            None => self.write(event),
        }
    }

    fn write_and_reserve(&mut self, event: &Event, number: u64) -> Result<u64> {
        self.check(event.timestamp_ns, event.event_kind)?;
        self.check_detail_limit()?;
        self.compare("detail_seq", number, self.next_detail_seq(), COUNTER)?;
        if self.reserved.queue.len() >= MOST_RESERVATIONS {
            let limit = MOST_RESERVATIONS as u64;
            return Err(self.refusal(ErrorKind::TooManyReservations { limit }, "detail_seq"));
        }
        let place = self.next_detail_place();
        let index_seq = self.push(&self.decoded(event, Some(place)))?;
        self.reserved.queue.push_back(Reservation {
            number,
            index_seq,
            timestamp_ns: event.timestamp_ns,
            event_kind: event.event_kind,
            is_dropped: false,
        });
        Ok(index_seq)
    }

    /// Writes the oldest detail that [`write_index`](Self::write_index) reserved and returns its
    /// position in `detail.atf`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotReserved`]; [`ErrorKind::Disagrees`] at `index_seq` or `timestamp` if the
    /// detail differs from the reservation; [`ErrorKind::OutOfRange`] at `total_length`,
    /// [`ErrorKind::AlreadyFinalized`] and [`ErrorKind::Io`] as in other calls.
    pub fn write_detail(
        &mut self,
        index_seq: u64,
        timestamp_ns: u64,
        detail: &Detail<'_>,
    ) -> Result<u64> {
        self.check_open()?;
        let Some(reserved) = self.reserved.queue.front().copied() else {
            return Err(self.refusal(ErrorKind::NotReserved, "detail_seq"));
        };
        self.compare("index_seq", index_seq, reserved.index_seq, RESERVATION)?;
        let expected = reserved.timestamp_ns;
        self.compare("timestamp", timestamp_ns, expected, RESERVATION)?;
        let header = self.detail_header(timestamp_ns, index_seq, detail)?;
        let place = self.push_detail(&header, with_payload(detail.payload))?;
        self.reserved.queue.pop_front();
        self.fill_places()?;
        Ok(place)
    }

    /// Drops a reserved detail, for example because a ring was full. Later details are written as
    /// usual. If `detail_seq` is the [next](Self::next_detail_seq) number, under which no detail
    /// has been reserved yet, the number is skipped.
    ///
    /// The link of the detail's index event is removed. If the event has already left the buffer,
    /// its link remains, because events in the file are never rewritten. The link then leads to a
    /// detail without a payload. Either way, the detail counts as one of the
    /// [`dropped_details`](super::ThreadSummary::dropped_details).
    ///
    /// ```
    /// use atf::write::{Detail, Event, ThreadWriter, WriteOptions};
    /// use atf::{DetailEventType, EventKind};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let folder = folder.path().join("thread_0");
    /// let mut writer = ThreadWriter::create(&folder, 0, &WriteOptions::default())?;
    /// let event_kind = EventKind::CALL;
    /// let call = Event::new(1000, 7, event_kind, 1);
    /// let detail = Detail::new(DetailEventType::FUNCTION_CALL, b"x");
    /// writer.write_index(&call, Some(0))?;
    /// writer.write_index(&call, Some(1))?;
    /// writer.drop_detail(0)?;
    /// writer.write_detail(1, 1000, &detail)?;
    /// let summary = writer.finalize()?;
    /// assert_eq!((summary.detail_count, summary.dropped_details), (1, 1));
    /// # Ok::<(), atf::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotReserved`] if no detail with this number is outstanding,
    /// [`ErrorKind::AlreadyFinalized`] and [`ErrorKind::Io`] as in other calls.
    pub fn drop_detail(&mut self, detail_seq: u64) -> Result<()> {
        self.check_open()?;
        if detail_seq == self.next_detail_seq() {
            self.count_skipped();
            return Ok(());
        }
        let queue = &self.reserved.queue;
        let found = queue.binary_search_by_key(&detail_seq, |reserved| reserved.number);
        let is_open = |at: &usize| queue.get(*at).is_some_and(|it| !it.is_dropped);
        let Some(at) = found.ok().filter(is_open) else {
            return Err(self.refusal(ErrorKind::NotReserved, "detail_seq"));
        };
        self.drop_details(at..at.saturating_add(1)).map(drop)
    }

    /// Drops the reserved details of all events before event `index_seq` and returns their number,
    /// for tracers whose details arrive in order but may get lost.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::AlreadyFinalized`] and [`ErrorKind::Io`] as in other calls.
    pub fn drop_details_before(&mut self, index_seq: u64) -> Result<u64> {
        self.check_open()?;
        let queue = &self.reserved.queue;
        let end = queue.partition_point(|reserved| reserved.index_seq < index_seq);
        self.drop_details(0..end)
    }

    /// Returns the detail reserved for event `index_seq`, unless the detail was dropped.
    #[must_use]
    pub fn reserved_detail(&self, index_seq: u64) -> Option<ReservedDetail> {
        let queue = &self.reserved.queue;
        let found = queue.binary_search_by_key(&index_seq, |reserved| reserved.index_seq);
        let reserved = queue.get(found.ok()?).filter(|it| !it.is_dropped)?;
        Some(ReservedDetail {
            detail_seq: reserved.number,
            timestamp_ns: reserved.timestamp_ns,
            event_kind: reserved.event_kind,
        })
    }

    /// Drops the details in this range of the queue and returns their number. Links of buffered
    /// events are removed; for other events, placeholders must take the details' places.
    fn drop_details(&mut self, range: Range<usize>) -> Result<u64> {
        // Events leave the buffer all at once, so all events after a buffered one are also
        // buffered.
        let buffered = (self.index.filled() / IndexEvent::SIZE) as u64;
        let first = self.next_index_seq.saturating_sub(buffered);
        if range.is_empty() {
            return Ok(0);
        }
        let (mut at, before) = (range.start, self.reserved.dropped);
        for _ in range {
            let Some(reserved) = self.reserved.queue.get_mut(at) else {
                return Err(self.fail(Error::internal(
                    "a reservation that was found is in its queue",
                )));
            };
            let (index_seq, is_in_file) = (reserved.index_seq, reserved.index_seq < first);
            if is_in_file {
                let was_dropped = std::mem::replace(&mut reserved.is_dropped, true);
                at = at.saturating_add(1);
                let dropped = &mut self.reserved.dropped;
                *dropped = dropped.saturating_add(u64::from(!was_dropped));
            } else {
                self.reserved.queue.remove(at);
                self.count_skipped();
                self.link(index_seq, first, None)?;
            }
        }
        let dropped = self.reserved.dropped.saturating_sub(before);
        // Events in the file keep their links.
        let queue = &self.reserved.queue;
        let buffered = queue.partition_point(|reserved| reserved.index_seq < first);
        for at in at.max(buffered)..queue.len() {
            let place = self.detail_count.saturating_add(at as u64);
            if let Some(index_seq) = self.reserved.queue.get(at).map(|moved| moved.index_seq) {
                self.link(index_seq, first, Some(place))?;
            }
        }
        self.fill_places()?;
        Ok(dropped)
    }

    fn count_skipped(&mut self) {
        let reserved = &mut self.reserved;
        reserved.dropped = reserved.dropped.saturating_add(1);
        reserved.skipped = reserved.skipped.saturating_add(1);
    }

    /// Changes the link of event `index_seq` in the buffer, which begins with event `first`.
    fn link(&mut self, index_seq: u64, first: u64, detail_seq: Option<u64>) -> Result<()> {
        let (wire, thread_id) = (self.wire, self.thread_id);
        let at = index_seq.checked_sub(first).and_then(|at| {
            let at = usize::try_from(at).ok()?;
            at.checked_mul(IndexEvent::SIZE)
        });
        let edited = match at {
            Some(at) => self.index.edit(at, |place| {
                let event = IndexEvent::decode(wire, thread_id, place);
                IndexEvent {
                    detail_seq,
                    ..event
                }
                .encode_to(wire, place);
            }),
            None => Err(Error::internal(
                "a buffered event has a place in the buffer",
            )),
        };
        edited.map_err(|error| self.fail(error))
    }

    /// Writes details without a payload in place of dropped details that are next in line.
    fn fill_places(&mut self) -> Result<()> {
        while let Some(reserved) = self.reserved.queue.front().filter(|next| next.is_dropped) {
            let detail = Detail {
                event_type: reserved.event_kind.detail_type(),
                flags: 0,
                payload: &[],
            };
            let (index_seq, timestamp_ns) = (reserved.index_seq, reserved.timestamp_ns);
            let header = self.detail_header(timestamp_ns, index_seq, &detail)?;
            self.push_detail(&header, with_payload(detail.payload))?;
            self.reserved.queue.pop_front();
        }
        Ok(())
    }
}
