//! The traced thread's end of the ring.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use atf::EventKind;
use atf::internal::Origin;
use atf::write::{Detail, Event, Link};
use rtrb::{Producer, PushError};

use super::losses::Losses;
use super::{Capacity, MISSED, NO_DETAIL, Overflow, Slot, sleep};
use crate::sys::Watched;

/// How long a blocked thread sleeps between checks for room.
const BLOCKED: Duration = Duration::from_micros(50);
/// How long a blocked thread sleeps after [`MOST_CHECKS`] checks: frequent checks by hundreds of
/// threads would leave the drain little time.
const BLOCKED_LONG: Duration = Duration::from_millis(1);
const MOST_CHECKS: u32 = 20;
/// After this many checks, a blocked thread checks whether the drain's thread still exists.
const MOST_CHECKS_IN_VAIN: u32 = 200;

/// A recorder for the events of one thread: see the [module](super).
///
/// Dropping it ends the stream: the drain takes the remaining events and then [is
/// finished](super::Drain::is_finished).
#[derive(Debug)]
pub struct Recorder {
    events: Producer<Slot>,
    payloads: Producer<u8>,
    losses: Arc<Losses>,
    overflow: Overflow,
    /// The recording process.
    origin: Origin,
    /// The drain's thread, if a recording started it.
    pub(super) drain: Arc<Watched>,
    /// The number of slots reserved for events without details.
    reserved: usize,
    /// Whether the drain decides which details are recorded, and therefore which are lost.
    pub(super) is_judged: bool,
    last_timestamp: u64,
    /// The sequence numbers of the next event and the next detail.
    next: Link,
    /// Whether this recorder will push no more events.
    has_left: bool,
}

/// An event or detail that was not recorded and has already been counted as lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Lost {
    /// The event, with its detail if any: the ring is full or no longer drained.
    Event,
    /// The detail: its payload does not fit, or the remaining slots are reserved for events without
    /// details. Its event is recorded. With a [window](super::Window), the detail counts as lost
    /// only if it is inside a window.
    Detail,
    /// The event, with its detail if any. It is earlier than the previous event or of unknown kind,
    /// and the format does not allow tracers to write such events.
    Refused,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Event => "the ring is full or no longer drained: the event is lost",
            Self::Detail => {
                "the ring has no room for the detail: it is lost, and the event is recorded"
            }
            Self::Refused => {
                "the event is earlier than the one before it or of unknown kind: it is not recorded"
            }
        })
    }
}

impl std::error::Error for Lost {}

impl Recorder {
    pub(super) fn new(
        events: Producer<Slot>,
        payloads: Producer<u8>,
        losses: Arc<Losses>,
        overflow: Overflow,
    ) -> Self {
        let reserved = match overflow {
            Overflow::DropDetail => events.buffer().capacity() / 4,
            Overflow::DropNewest | Overflow::Block => 0,
        };
        Self {
            events,
            payloads,
            losses,
            overflow,
            origin: Origin::current(),
            drain: Arc::default(),
            reserved,
            is_judged: false,
            last_timestamp: 0,
            next: Link {
                index_seq: 0,
                detail_seq: 0,
            },
            has_left: false,
        }
    }

    /// Records an event and returns its `index_seq`: its position in the file that the ring is
    /// drained into, provided that the file was new. With a [window](super::Window), the drain
    /// decides what is written, so a `detail_seq` counts recorded details and is not a position in
    /// a file. With [`Lanes::Both`](super::Lanes::Both), the same applies to `index_seq` and
    /// recorded events.
    ///
    /// # Errors
    ///
    /// [`Lost::Event`] if the ring is full and does not [block](Overflow::Block), or the ring is no
    /// longer drained; [`Lost::Refused`]. Later events can be recorded.
    #[inline]
    pub fn record(&mut self, event: &Event) -> Result<u64, Lost> {
        self.check(event)?;
        // Pass copies to the cold functions: a reference would force the event into memory, and
        // copying it into the ring would wait for that store.
        if let Err(PushError::Full(slot)) = self.events.push(Slot::without_detail(event)) {
            self.push_later(slot)?;
        }
        Ok(self.count(event.timestamp_ns))
    }

    /// Like [`record`](Self::record), but not inlined: in a large function, the compiler would not
    /// inline the push into the ring.
    #[inline(never)]
    pub(super) fn record_numbers(
        &mut self,
        timestamp_ns: u64,
        function_id: u64,
        event_kind: EventKind,
        call_depth: u32,
    ) -> Result<u64, Lost> {
        self.record(&Event::new(
            timestamp_ns,
            function_id,
            event_kind,
            call_depth,
        ))
    }

    /// Records an event with its detail, copying the payload. Reserves both sequence numbers
    /// together, so links stay correct even after losses.
    ///
    /// # Errors
    ///
    /// The errors of [`record`](Self::record), and those of the [policy](Overflow) for a payload
    /// that does not fit. The call never waits if the payload is larger than the capacity, because
    /// such a payload can never fit. With a [window](super::Window), it also does not wait if the
    /// payload is larger than half of the capacity.
    pub fn record_with_detail(&mut self, event: &Event, detail: &Detail<'_>) -> Result<Link, Lost> {
        self.check(event)?;
        let payload = detail.payload;
        let size = payload.len();
        let has_room = self.has_room(size)
            || self.overflow == Overflow::Block
                && self.wait(|this| this.has_room(size) || !this.is_worth_waiting(size))
                && self.has_room(size);
        if !has_room && self.overflow == Overflow::DropNewest {
            return Err(self.lose(event.timestamp_ns));
        }
        if !has_room {
            return Err(self.record_without(event));
        }
        let payload_size = u32::try_from(size).unwrap_or(NO_DETAIL);
        // Store the payload before its event, so a drain that finds the event also finds the
        // payload. There is room, because only this thread records.
        if self.payloads.push_entire_slice(payload).is_err() {
            return Err(self.lose(event.timestamp_ns));
        }
        let slot = Slot {
            event: *event,
            payload_size,
            event_type: detail.event_type,
            flags: detail.flags,
        };
        self.events
            .push(slot)
            .map_err(|_| self.lose(event.timestamp_ns))?;
        let link = Link {
            index_seq: self.count(event.timestamp_ns),
            ..self.next
        };
        self.next.detail_seq = link.detail_seq.wrapping_add(1);
        Ok(link)
    }

    /// Records an event whose detail does not fit.
    #[cold]
    fn record_without(&mut self, event: &Event) -> Lost {
        let mut slot = Slot::without_detail(event);
        if self.is_judged {
            slot.payload_size = MISSED;
        }
        if let Err(PushError::Full(slot)) = self.events.push(slot)
            && let Err(lost) = self.push_later(slot)
        {
            return lost;
        }
        self.count(event.timestamp_ns);
        if !self.is_judged {
            self.losses.details.add(event.timestamp_ns);
        }
        Lost::Detail
    }

    pub(super) fn losses(&self) -> Arc<Losses> {
        Arc::clone(&self.losses)
    }

    /// Returns the number of events lost so far.
    #[must_use]
    pub fn lost_events(&self) -> u64 {
        self.losses.events.count()
    }

    /// Returns the number of details lost so far, not counting those of lost events.
    #[must_use]
    pub fn lost_details(&self) -> u64 {
        self.losses.details.count()
    }

    /// Returns whether the ring is no longer drained, in which case all later events are lost.
    #[must_use]
    #[inline]
    pub fn is_abandoned(&self) -> bool {
        self.losses.is_closed()
    }

    /// Rejects events that the format forbids, so that the writer accepts every event in the ring
    /// and the reserved sequence numbers stay correct.
    #[inline]
    fn check(&mut self, event: &Event) -> Result<(), Lost> {
        let is_known = event.event_kind.name().is_some();
        if event.timestamp_ns >= self.last_timestamp && is_known && !self.is_abandoned() {
            Ok(())
        } else {
            Err(self.refuse(event.timestamp_ns))
        }
    }

    #[cold]
    fn refuse(&mut self, timestamp_ns: u64) -> Lost {
        let lost = self.lose(timestamp_ns);
        if self.is_abandoned() {
            self.leave();
            lost
        } else {
            Lost::Refused
        }
    }

    /// Counts a recorded event and returns its sequence number.
    #[inline]
    fn count(&mut self, timestamp_ns: u64) -> u64 {
        self.last_timestamp = timestamp_ns;
        let seq = self.next.index_seq;
        // No program runs long enough to record 2⁶⁴ events.
        self.next.index_seq = seq.wrapping_add(1);
        seq
    }

    /// Pushes an event after finding the ring full.
    #[cold]
    fn push_later(&mut self, slot: Slot) -> Result<(), Lost> {
        let has_room = self.overflow == Overflow::Block && self.wait(|this| !this.events.is_full());
        let time = slot.event.timestamp_ns;
        if has_room && self.events.push(slot).is_ok() {
            Ok(())
        } else {
            Err(self.lose(time))
        }
    }

    /// Returns whether room for the payload can become available. With a window, the drain frees
    /// only half of the ring and may hold the rest.
    fn is_worth_waiting(&self, payload_size: usize) -> bool {
        let capacity = self.payloads.buffer().capacity();
        let freed = if self.is_judged {
            capacity.div_ceil(2)
        } else {
            capacity
        };
        self.events.is_full() || payload_size <= freed
    }

    /// Returns whether there is room for an event with its detail.
    fn has_room(&self, payload_size: usize) -> bool {
        let has_slot = match self.reserved {
            0 => !self.events.is_full(),
            reserved => self.events.slots() > reserved,
        };
        has_slot && self.payloads.slots() >= payload_size
    }

    /// Returns the maximum number of events and payload bytes that the ring can hold.
    pub(super) fn capacity(&self) -> Capacity {
        Capacity {
            events: self.events.buffer().capacity(),
            payload_size: self.payloads.buffer().capacity(),
        }
    }

    /// Leaves the ring, which is no longer drained. If the drain has already left it, counts the
    /// events in it as lost: they were pushed while the drain gave up.
    fn leave(&mut self) {
        if !std::mem::replace(&mut self.has_left, true) && self.losses.leave() {
            for _ in self.events.slots()..self.events.buffer().capacity() {
                self.losses.lose_event(self.last_timestamp);
            }
        }
    }

    /// Waits for room. Returns false if the ring is no longer drained, if the drain's thread is
    /// gone, or if this process is a forked child, in which no other thread runs.
    #[cold]
    fn wait(&self, has_room: impl Fn(&Self) -> bool) -> bool {
        let mut checks = 0_u32;
        loop {
            let has_room = has_room(self);
            // Do this after `has_room`: a drain that gives up closes the ring and then empties it.
            if self.is_abandoned() {
                return false;
            }
            if has_room {
                return true;
            }
            if self.origin.is_forked() {
                return false;
            }
            checks = checks.saturating_add(1);
            if checks.is_multiple_of(MOST_CHECKS_IN_VAIN) && self.drain.is_gone() {
                self.losses.close();
                return false;
            }
            sleep(if checks <= MOST_CHECKS {
                BLOCKED
            } else {
                BLOCKED_LONG
            });
        }
    }

    #[cold]
    fn lose(&self, timestamp_ns: u64) -> Lost {
        self.losses.lose_event(timestamp_ns);
        Lost::Event
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel;

    #[test]
    fn events_that_enter_a_ring_after_its_drain_gave_up_are_counted() -> atf::Result<()> {
        for is_refused_before in [false, true] {
            let capacity = Capacity::default().events(4);
            let (mut recorder, mut drain) = channel(capacity, Overflow::Block)?;
            let event = Event::new(7, 7, EventKind::CALL, 1);
            assert!(recorder.record(&event).is_ok());
            drain.give_up();
            // Simulate a drain that gives up after the recorder checks for that.
            let late = event.timestamp_ns(9);
            assert!(recorder.events.push(Slot::without_detail(&late)).is_ok());
            recorder.count(late.timestamp_ns);
            if is_refused_before {
                assert_eq!(recorder.record(&late), Err(Lost::Event));
            }
            drop(recorder);
            let loss = drain.event_loss().map(|loss| (loss.count, loss.last_ns));
            assert_eq!(loss, Some((2 + u64::from(is_refused_before), 9)));
        }
        Ok(())
    }

    #[test]
    fn a_drain_that_gives_up_counts_the_events_of_a_dropped_recorder() -> atf::Result<()> {
        let (mut recorder, mut drain) = channel(Capacity::default().events(4), Overflow::Block)?;
        let event = Event::new(7, 7, EventKind::CALL, 1);
        assert!(recorder.record(&event).is_ok());
        drop(recorder);
        drain.give_up();
        assert_eq!(drain.event_loss().map(|loss| loss.count), Some(1));
        Ok(())
    }
}
