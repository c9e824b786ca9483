//! The traced thread's end of the ring.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rtrb::Producer;

use super::{Losses, NO_DETAIL, Slot};
use crate::write::{Detail, Event};

/// Records the events of one thread: see the [module](super).
///
/// Dropping it ends the stream: the drain gets the rest of the ring's contents and then [is
/// finished](super::Drain::is_finished).
#[derive(Debug)]
pub struct Recorder {
    events: Producer<Slot>,
    payloads: Producer<u8>,
    losses: Arc<Losses>,
}

/// An event or detail that did not fit into the ring. It is already counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lost {
    /// The event, and its detail if it has one.
    Event,
    /// The detail; its event is recorded.
    Detail,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Event => "the ring is full: the event is lost",
            Self::Detail => {
                "the ring has no room for the payload: the detail is lost, the event is recorded"
            }
        })
    }
}

impl std::error::Error for Lost {}

impl Recorder {
    pub(super) fn new(events: Producer<Slot>, payloads: Producer<u8>, losses: Arc<Losses>) -> Self {
        Self {
            events,
            payloads,
            losses,
        }
    }

    /// Records an event. The writer checks the format's rules when the event is drained.
    ///
    /// # Errors
    ///
    /// [`Lost::Event`] if the ring is full. It may have room again at the next call.
    #[inline]
    pub fn record(&mut self, event: &Event) -> Result<(), Lost> {
        match self.events.push(Slot::without_detail(event)) {
            Ok(()) => Ok(()),
            Err(_) => Err(self.lose_event()),
        }
    }

    /// Records an event with its detail, whose payload is copied.
    ///
    /// # Errors
    ///
    /// [`Lost::Event`] if the ring is full, [`Lost::Detail`] if only the payload does not fit; a
    /// payload larger than the capacity never fits.
    pub fn record_with_detail(&mut self, event: &Event, detail: &Detail<'_>) -> Result<(), Lost> {
        // The room for the event stays free: nobody else records.
        if self.events.is_full() {
            return Err(self.lose_event());
        }
        let size = u32::try_from(detail.payload.len()).unwrap_or(NO_DETAIL);
        // The payload is stored before its event, so a drain that finds the event finds the
        // payload.
        if size == NO_DETAIL || self.payloads.push_entire_slice(detail.payload).is_err() {
            self.record(event)?;
            count(&self.losses.details);
            return Err(Lost::Detail);
        }
        let slot = Slot {
            event: *event,
            payload_size: size,
            event_type: detail.event_type,
            flags: detail.flags,
        };
        self.events.push(slot).map_err(|_| self.lose_event())
    }

    /// Returns how many events were lost so far.
    #[must_use]
    pub fn lost_events(&self) -> u64 {
        self.losses.events.load(Ordering::Relaxed)
    }

    /// Returns how many details were lost so far although their events are recorded.
    #[must_use]
    pub fn lost_details(&self) -> u64 {
        self.losses.details.load(Ordering::Relaxed)
    }

    /// Returns whether the drain is gone, so that everything recorded is lost.
    #[must_use]
    pub fn is_abandoned(&self) -> bool {
        self.events.is_abandoned()
    }

    #[cold]
    fn lose_event(&self) -> Lost {
        count(&self.losses.events);
        Lost::Event
    }
}

/// Adds one. Only this thread writes, so nothing can come between load and store.
fn count(losses: &AtomicU64) {
    let lost = losses.load(Ordering::Relaxed);
    losses.store(lost.wrapping_add(1), Ordering::Relaxed);
}
