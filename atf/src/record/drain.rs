//! The end of the thread that writes.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use rtrb::Consumer;

use super::{Losses, NO_DETAIL, Slot};
use crate::error::{Error, ErrorKind, Result};
use crate::write::{Detail, ThreadWriter};

/// Events that are taken before their places in the ring are free again: 32 KiB of it.
const MOST_TAKEN: usize = 1024;

/// Takes what a [`Recorder`](super::Recorder) recorded: see the [module](super).
#[derive(Debug)]
pub struct Drain {
    events: Consumer<Slot>,
    payloads: Payloads,
    losses: Arc<Losses>,
    totals: Drained,
    refusal: Option<Error>,
    is_finished: bool,
}

/// What came of draining.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Drained {
    /// Events that the writer took.
    pub events: u64,
    /// Details that it took with them.
    pub details: u64,
    /// Events that the writer refused, with their details: those that go back in time and those of
    /// unknown kind. The first one's error is [`Drain::first_refusal`].
    pub refused: u64,
    /// Events that found no room in the ring, with their details.
    pub lost_events: u64,
    /// Details that found no room in the ring, while their events did.
    pub lost_details: u64,
}

impl Drain {
    pub(super) fn new(events: Consumer<Slot>, payloads: Consumer<u8>, losses: Arc<Losses>) -> Self {
        Self {
            events,
            payloads: Payloads {
                lane: payloads,
                joined: Vec::new(),
            },
            losses,
            totals: Drained::default(),
            refusal: None,
            is_finished: false,
        }
    }

    /// Hands over the events that are in the ring now, and says what became of them and what was
    /// lost since the last call. It does not wait: where there was nothing, the caller sleeps.
    ///
    /// An event that breaks the format's rules for tracers is refused, counted, and out of the ring.
    ///
    /// # Errors
    ///
    /// What the writer returns: [`ErrorKind::Io`], and again at each later call;
    /// [`ErrorKind::LimitReached`], [`ErrorKind::AlreadyFinalized`], [`ErrorKind::DetailsMissing`].
    /// The events that it did not take stay in the ring, and another writer may get them. The
    /// recorder goes on, and counts as lost what finds no room. What the call did until then is in
    /// [`totals`](Self::totals).
    pub fn drain_into(&mut self, writer: &mut ThreadWriter) -> Result<Drained> {
        let before = self.totals;
        // Asked first: of a recorder that is gone, all events are seen and all losses counted.
        let is_last = self.events.is_abandoned();
        let taken = self.take_all(writer);
        self.totals.lost_events = self.losses.events.load(Ordering::Relaxed);
        self.totals.lost_details = self.losses.details.load(Ordering::Relaxed);
        taken?;
        self.is_finished = is_last;
        Ok(self.totals.since(&before))
    }

    /// Whether the recorder is gone and all that it recorded was drained, so that
    /// [`totals`](Self::totals) stay as they are.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// What came of all calls, those that returned an error included.
    #[must_use]
    pub fn totals(&self) -> Drained {
        self.totals
    }

    /// Why the first event that was refused was.
    #[must_use]
    pub fn first_refusal(&self) -> Option<&Error> {
        self.refusal.as_ref()
    }

    /// Takes what is there now. What is recorded meanwhile is left for the next call, so that one
    /// busy thread does not keep its drain from the others.
    fn take_all(&mut self, writer: &mut ThreadWriter) -> Result<()> {
        let mut left = self.events.slots();
        while left > 0 {
            let count = left.min(MOST_TAKEN);
            self.take(count, writer)?;
            left = left.saturating_sub(count);
        }
        Ok(())
    }

    fn take(&mut self, count: usize, writer: &mut ThreadWriter) -> Result<()> {
        // So many are there: nobody else takes any.
        let Ok(chunk) = self.events.read_chunk(count) else {
            return Err(Error::internal("events that are in the ring can be taken"));
        };
        let (first, second) = chunk.as_slices();
        let mut taken = 0_usize;
        let mut written = Ok(());
        for slot in first.iter().chain(second) {
            written = match slot.payload_size {
                NO_DETAIL => writer.write(&slot.event).map(drop),
                size => self.payloads.write(size, slot, writer),
            };
            match &written {
                Ok(()) => {
                    self.totals.events = self.totals.events.wrapping_add(1);
                    let has_detail = slot.payload_size != NO_DETAIL;
                    self.totals.details = self.totals.details.wrapping_add(has_detail.into());
                }
                Err(error) if is_refusal(error) => {
                    self.totals.refused = self.totals.refused.wrapping_add(1);
                    self.refusal.get_or_insert_with(|| error.clone());
                    written = Ok(());
                }
                Err(_) => break,
            }
            taken = taken.wrapping_add(1);
        }
        chunk.commit(taken);
        written
    }
}

/// Whether it is about this event and not about the writer.
fn is_refusal(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::TimeGoesBack { .. } | ErrorKind::OutOfRange { .. }
    )
}

/// The lane of the payloads.
#[derive(Debug)]
struct Payloads {
    lane: Consumer<u8>,
    /// A payload that stands at the end of the ring and goes on at its beginning.
    joined: Vec<u8>,
}

impl Payloads {
    /// Writes an event with its payload, which is out of the ring unless the writer failed.
    fn write(&mut self, size: u32, slot: &Slot, writer: &mut ThreadWriter) -> Result<()> {
        let chunk = usize::try_from(size).ok();
        // It is there: it was recorded before its event.
        let Some(chunk) = chunk.and_then(|size| self.lane.read_chunk(size).ok()) else {
            return Err(Error::internal("a payload is in its ring before its event"));
        };
        let payload = match chunk.as_slices() {
            (whole, []) => whole,
            (head, tail) => {
                self.joined.clear();
                self.joined.extend_from_slice(head);
                self.joined.extend_from_slice(tail);
                &self.joined
            }
        };
        let detail = Detail {
            event_type: slot.event_type,
            flags: slot.flags,
            payload,
        };
        let written = writer.write_with_detail(&slot.event, &detail).map(drop);
        if written.as_ref().map_or_else(is_refusal, |()| true) {
            chunk.commit_all();
        }
        written
    }
}

impl Drained {
    fn since(&self, before: &Self) -> Self {
        Self {
            events: self.events.wrapping_sub(before.events),
            details: self.details.wrapping_sub(before.details),
            refused: self.refused.wrapping_sub(before.refused),
            lost_events: self.lost_events.wrapping_sub(before.lost_events),
            lost_details: self.lost_details.wrapping_sub(before.lost_details),
        }
    }
}
