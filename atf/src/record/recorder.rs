//! The end of the traced thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rtrb::Producer;

use super::{Losses, NO_DETAIL, Slot};
use crate::write::{Detail, Event};

/// Records the events of one thread: see the [module](super).
///
/// Dropped, it ends the stream: the drain gets what is in the ring and
/// [is finished](super::Drain::is_finished).
#[derive(Debug)]
pub struct Recorder {
    events: Producer<Slot>,
    payloads: Producer<u8>,
    losses: Arc<Losses>,
}

/// What found no room in the ring. It is counted already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Lost {
    /// The event, and its detail if it has one.
    #[error("the ring is full: the event is lost")]
    Event,
    /// The detail; its event is recorded.
    #[error("the ring has no room for the payload: the detail is lost, the event is recorded")]
    Detail,
}

impl Recorder {
    pub(super) fn new(events: Producer<Slot>, payloads: Producer<u8>, losses: Arc<Losses>) -> Self {
        Self {
            events,
            payloads,
            losses,
        }
    }

    /// Records an event. What the format demands of it, the writer checks when it is drained.
    ///
    /// # Errors
    ///
    /// [`Lost::Event`] where the ring is full. It may have room again at the next call.
    #[inline]
    pub fn record(&mut self, event: &Event) -> Result<(), Lost> {
        match self.events.push(Slot::without_detail(event)) {
            Ok(()) => Ok(()),
            Err(_) => Err(self.lose_event()),
        }
    }

    /// Records an event with its detail, the payload of which is copied.
    ///
    /// # Errors
    ///
    /// [`Lost::Event`] where the ring is full, [`Lost::Detail`] where only the payload finds no
    /// room; one that is larger than the capacity never does.
    pub fn record_with_detail(&mut self, event: &Event, detail: &Detail<'_>) -> Result<(), Lost> {
        // Room for the event that is there now stays there: nobody else records.
        if self.events.is_full() {
            return Err(self.lose_event());
        }
        let size = u32::try_from(detail.payload.len()).unwrap_or(NO_DETAIL);
        // The payload is there before its event is: a drain that finds one finds the other.
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

    /// How many events were lost until now.
    #[must_use]
    pub fn lost_events(&self) -> u64 {
        self.losses.events.load(Ordering::Relaxed)
    }

    /// How many details were lost until now whose events are recorded.
    #[must_use]
    pub fn lost_details(&self) -> u64 {
        self.losses.details.load(Ordering::Relaxed)
    }

    /// Whether the drain is gone, so that whatever is recorded is lost.
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

/// Adds one. This thread alone writes, so nothing comes between load and store.
fn count(losses: &AtomicU64) {
    let lost = losses.load(Ordering::Relaxed);
    losses.store(lost.wrapping_add(1), Ordering::Relaxed);
}
