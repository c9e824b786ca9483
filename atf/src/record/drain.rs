//! The writer thread's end of the ring.

use std::sync::Arc;

use rtrb::Consumer;

use super::losses::Losses;
use super::{NO_DETAIL, Slot};
#[cfg(doc)]
use crate::error::ErrorKind;
use crate::error::{Error, Result};
use crate::manifest::Loss;
use crate::write::{Detail, ThreadWriter};

/// How many events are taken before their slots in the ring are freed: 32 KiB of it.
const MOST_TAKEN: usize = 1024;

/// Drains what a [`Recorder`](super::Recorder) recorded: see the [module](super).
#[derive(Debug)]
pub struct Drain {
    events: Consumer<Slot>,
    payloads: Payloads,
    losses: Arc<Losses>,
    totals: Drained,
    is_finished: bool,
}

/// The outcome of draining.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Drained {
    /// Events that the writer accepted.
    pub events: u64,
    /// Details that it accepted with them.
    pub details: u64,
    /// Events that were not recorded, with their details: see [`Lost`](super::Lost).
    pub lost_events: u64,
    /// Details that did not fit into the ring although their events did.
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
            is_finished: false,
        }
    }

    /// Passes the events currently in the ring to the writer and returns what became of them and
    /// what was lost since the last call. It does not wait: if the ring was empty, the caller
    /// should sleep.
    ///
    /// # Errors
    ///
    /// The writer's errors: [`ErrorKind::Io`], repeated at each later call;
    /// [`ErrorKind::LimitReached`], [`ErrorKind::AlreadyFinalized`], [`ErrorKind::DetailsMissing`];
    /// [`ErrorKind::TimeGoesBack`] if it already has later events. Events that the writer did not
    /// take stay in the ring, for another writer if you wish. The recorder continues, and counts
    /// what does not fit as lost. [`totals`](Self::totals) includes what the call did before the
    /// error.
    pub fn drain_into(&mut self, writer: &mut ThreadWriter) -> Result<Drained> {
        let before = self.totals;
        // Checked first: once the recorder is gone, all events are visible and all losses counted.
        let is_last = self.events.is_abandoned();
        let taken = self.take_all(writer);
        self.totals.lost_events = self.losses.events.count();
        self.totals.lost_details = self.losses.details.count();
        taken?;
        self.is_finished = is_last;
        Ok(self.totals.since(&before))
    }

    /// Returns whether the recorder is gone and everything it recorded was drained, so that the
    /// [`totals`](Self::totals) are final.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// Returns the outcome of all calls, including those that returned an error.
    #[must_use]
    pub fn totals(&self) -> Drained {
        self.totals
    }

    /// Returns which events were lost so far.
    #[must_use]
    pub fn event_loss(&self) -> Option<Loss> {
        self.losses.events.loss()
    }

    /// Returns which details were lost so far although their events are recorded.
    #[must_use]
    pub fn detail_loss(&self) -> Option<Loss> {
        self.losses.details.loss()
    }

    /// Makes the recorder lose all further events, and report each.
    pub(super) fn close(&self) {
        self.losses.close();
    }

    /// Counts what is in the ring as lost, because no writer takes it.
    pub(super) fn give_up(&mut self) {
        self.close();
        if let Ok(chunk) = self.events.read_chunk(self.events.slots()) {
            let (first, second) = chunk.as_slices();
            for slot in first.iter().chain(second) {
                self.losses.events.add(slot.event.timestamp_ns);
            }
            chunk.commit_all();
        }
    }

    pub(super) fn losses(&self) -> Arc<Losses> {
        Arc::clone(&self.losses)
    }

    /// Takes the events that are in the ring now. Events recorded meanwhile are left for the next
    /// call, so that one busy thread does not keep its drain from the others.
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
        // This many are available: nobody else takes any.
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
            if written.is_err() {
                break;
            }
            let has_detail = slot.payload_size != NO_DETAIL;
            self.totals.details = self.totals.details.wrapping_add(has_detail.into());
            taken = taken.wrapping_add(1);
        }
        self.totals.events = self.totals.events.wrapping_add(taken as u64);
        chunk.commit(taken);
        written
    }
}

impl Drop for Drain {
    fn drop(&mut self) {
        self.close();
    }
}

/// The payload lane.
#[derive(Debug)]
struct Payloads {
    lane: Consumer<u8>,
    /// A payload that wraps around the end of the ring, joined.
    joined: Vec<u8>,
}

impl Payloads {
    /// Writes an event with its payload, and removes the payload from the ring unless that fails.
    fn write(&mut self, size: u32, slot: &Slot, writer: &mut ThreadWriter) -> Result<()> {
        let chunk = usize::try_from(size).ok();
        // The payload is available: it was recorded before its event.
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
        if written.is_ok() {
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
            lost_events: self.lost_events.wrapping_sub(before.lost_events),
            lost_details: self.lost_details.wrapping_sub(before.lost_details),
        }
    }
}
