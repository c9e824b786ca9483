//! The writer thread's end of the ring.

use std::sync::Arc;

#[cfg(doc)]
use atf::ErrorKind;
use atf::manifest::Loss;
use atf::write::{Detail, ThreadWriter};
use atf::{Error, Result};
use rtrb::chunks::ReadChunk;
use rtrb::{Consumer, RingBuffer};

use super::let_go::LetGo;
use super::losses::{Lane, Losses};
use super::window::{Verdict, Windows};
use super::{Capacity, Lanes, MISSED, NO_DETAIL, Slot, check_memory, ring_size};

/// The maximum number of events to take before freeing their slots (32 KiB of the ring).
const MOST_TAKEN: usize = 1024;

/// Where a drain sends events.
pub(super) trait Target {
    fn writer(&mut self) -> Result<&mut ThreadWriter>;
}

impl Target for ThreadWriter {
    #[inline]
    fn writer(&mut self) -> Result<&mut ThreadWriter> {
        Ok(self)
    }
}

/// The end of a ring that drains the events that a [`Recorder`](super::Recorder) recorded: see the
/// [module](super).
#[derive(Debug)]
pub struct Drain {
    events: Consumer<Slot>,
    outlet: Outlet,
    is_finished: bool,
    /// Whether the ring was replaced by one that is just large enough for its contents.
    is_compact: bool,
    /// How many events a flight recorder with an unlimited pre-roll should keep. A ring whose
    /// capacity was reduced may keep fewer, and the others count as lost.
    pub(super) wanted: usize,
}

/// The destination of events that leave the ring.
#[derive(Debug)]
struct Outlet {
    payloads: Consumer<u8>,
    /// A copy, in one piece, of a payload that wraps around the end of the ring.
    joined: Vec<u8>,
    losses: Arc<Losses>,
    /// The times of the details, or complete events, that were discarded because they are outside
    /// every window.
    let_go: LetGo,
    totals: Drained,
}

/// How many events and payload bytes must leave the ring for it to be at most half full.
#[derive(Debug)]
struct Crowd {
    events: usize,
    payload_size: usize,
}

/// The result of draining.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Drained {
    /// The number of events that the writer accepted.
    pub events: u64,
    /// The number of details that the writer accepted.
    pub details: u64,
    /// The number of events that were lost, together with their details: see [`Lost`](super::Lost).
    pub lost_events: u64,
    /// The number of details that did not fit into the ring, although their events did.
    pub lost_details: u64,
}

impl Drain {
    pub(super) fn new(events: Consumer<Slot>, payloads: Consumer<u8>, losses: Arc<Losses>) -> Self {
        let outlet = Outlet {
            payloads,
            joined: Vec::new(),
            losses,
            let_go: LetGo::new(events.buffer().capacity()),
            totals: Drained::default(),
        };
        Self {
            events,
            outlet,
            is_finished: false,
            is_compact: false,
            wanted: 0,
        }
    }

    /// Passes the events currently in the ring to the writer. Returns how many were written, and
    /// how many were lost since the last call. Does not wait: if the ring was empty, the caller
    /// should sleep.
    ///
    /// # Errors
    ///
    /// The writer's errors: [`ErrorKind::Io`], which all later calls also return;
    /// [`ErrorKind::LimitReached`], [`ErrorKind::AlreadyFinalized`], [`ErrorKind::DetailsMissing`];
    /// [`ErrorKind::TimeGoesBack`] if the writer already has later events. Events that the writer
    /// did not accept stay in the ring, and another call with a new writer can drain them. The
    /// recorder keeps running, and counts events that do not fit as lost. [`totals`](Self::totals)
    /// includes the events handled before the error.
    pub fn drain_into(&mut self, writer: &mut ThreadWriter) -> Result<Drained> {
        self.drain_windows(writer, None)
    }

    /// Like [`drain_into`](Self::drain_into), but writes only events and details inside the
    /// windows.
    pub(super) fn drain_windows(
        &mut self,
        target: &mut impl Target,
        windows: Option<&Windows>,
    ) -> Result<Drained> {
        let before = self.outlet.totals;
        // Check this first: once the recorder has been dropped, all events are visible and all
        // losses are counted.
        let is_last = self.events.is_abandoned();
        if let Some(windows) = windows {
            self.claim(windows);
        }
        let taken = self.take_all(target, windows, self.crowd());
        self.outlet.totals.lost_events = self.outlet.losses.events.count();
        self.outlet.totals.lost_details = self.outlet.losses.details.count();
        taken?;
        self.is_finished = is_last && windows.is_none_or(|windows| self.is_decided(windows));
        Ok(self.outlet.totals.since(&before))
    }

    /// Returns whether the recorder was dropped and the ring is fully drained. From then on, the
    /// [`totals`](Self::totals) are final.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// Returns the totals of all calls, including failed ones.
    #[must_use]
    pub fn totals(&self) -> Drained {
        self.outlet.totals
    }

    /// Returns the number and times of the events lost so far.
    #[must_use]
    pub fn event_loss(&self) -> Option<Loss> {
        self.outlet.losses.events.loss()
    }

    /// Returns the number and times of the details lost so far, excluding those of lost events.
    #[must_use]
    pub fn detail_loss(&self) -> Option<Loss> {
        self.outlet.losses.details.loss()
    }

    /// Closes the ring: the recorder loses all later events and reports each loss.
    pub(super) fn close(&self) {
        self.outlet.losses.close();
    }

    /// Counts the events left in the ring as lost, because they will not be written. Must be called
    /// at most once.
    pub(super) fn give_up(&mut self) {
        self.close();
        self.lose_all();
        if self.outlet.losses.leave() {
            // The recorder may have pushed events in the meantime, before it left.
            self.lose_all();
        }
    }

    fn lose_all(&mut self) {
        if let Ok(chunk) = self.events.read_chunk(self.events.slots()) {
            let (first, second) = chunk.as_slices();
            for slot in first.iter().chain(second) {
                self.outlet.losses.lose_event(slot.event.timestamp_ns);
            }
            chunk.commit_all();
        }
    }

    /// Returns whether the recorder was dropped, after which no more events enter the ring.
    pub(super) fn is_abandoned(&self) -> bool {
        self.events.is_abandoned()
    }

    /// Returns whether events were lost, or would be if the ring were not
    /// [drained](Self::drain_into) again.
    pub(super) fn has_losses(&self) -> bool {
        let losses = &self.outlet.losses;
        losses.events.count() > 0 || losses.details.count() > 0 || !self.events.is_empty()
    }

    /// Moves the held events of a finished thread into memory of exactly their size. From then on,
    /// no events are discarded to make room.
    pub(super) fn compact(&mut self) {
        if self.is_abandoned() && !self.is_compact {
            self.is_compact = true;
            compact(&mut self.events);
            compact(&mut self.outlet.payloads);
            self.outlet.joined = Vec::new();
            self.outlet.let_go.compact();
        }
    }

    /// Returns the memory size, in bytes, of the ring and of the record of discarded events.
    pub(super) fn size(&self) -> usize {
        ring_size(self.capacity(), false).saturating_add(self.outlet.let_go.size())
    }

    /// Returns how many events and payload bytes the ring can hold.
    pub(super) fn capacity(&self) -> Capacity {
        Capacity {
            events: self.events.buffer().capacity(),
            payload_size: self.outlet.payloads.buffer().capacity(),
        }
    }

    /// Discards all held events. Counts them and the events discarded earlier as lost, because
    /// later triggers can no longer request them.
    pub(super) fn release(&mut self, target: &mut impl Target, windows: &Windows) -> Result<()> {
        let all = Crowd {
            events: usize::MAX,
            payload_size: usize::MAX,
        };
        let held = LetGo::new(0);
        let mut early = std::mem::replace(&mut self.outlet.let_go, held);
        let early = windows
            .have_a_start()
            .then(|| early.claim(windows.decided_ns, u64::MAX));
        self.take_all(target, Some(windows), all)?;
        let held = self.outlet.let_go.claim(0, u64::MAX);
        for loss in early.flatten().iter().chain(&held) {
            self.lane(windows).add_all(loss);
        }
        Ok(())
    }

    pub(super) fn losses(&self) -> Arc<Losses> {
        Arc::clone(&self.outlet.losses)
    }

    /// Returns whether the ring is more than half full.
    pub(super) fn is_crowded(&self) -> bool {
        self.crowd().is_out()
    }

    /// Returns by how much the ring's contents exceed half of its capacity.
    fn crowd(&self) -> Crowd {
        let excess = |slots: usize, capacity: usize| {
            let most = if self.is_compact {
                capacity
            } else {
                capacity / 2
            };
            slots.saturating_sub(most)
        };
        let (events, payloads) = (&self.events, &self.outlet.payloads);
        Crowd {
            events: excess(events.slots(), events.buffer().capacity()),
            payload_size: excess(payloads.slots(), payloads.buffer().capacity()),
        }
    }

    /// Counts discarded events inside new windows as lost. Without a start, a window covers the
    /// last events that a full ring would have kept.
    fn claim(&mut self, windows: &Windows) {
        let is_flight = windows.lanes() == Lanes::Both;
        if !windows.have_a_start() && is_flight && !windows.added.is_empty() {
            let missing = self.wanted.saturating_sub(self.events.slots());
            if let Some(loss) = self.outlet.let_go.claim_last(missing as u64) {
                self.outlet.losses.events.add_all(&loss);
            }
        }
        for (start, end) in windows.added.iter().filter(|_| windows.have_a_start()) {
            if let Some(loss) = self.outlet.let_go.claim(*start, *end) {
                self.lane(windows).add_all(&loss);
            }
        }
        self.outlet.let_go.forget(windows.decided_ns);
    }

    /// Returns the loss counter of the lanes that the windows select.
    fn lane(&self, windows: &Windows) -> &Lane {
        match windows.lanes() {
            Lanes::Details => &self.outlet.losses.details,
            Lanes::Both => &self.outlet.losses.events,
        }
    }

    /// Returns whether the ring is empty and no trigger can request the discarded events.
    fn is_decided(&self, windows: &Windows) -> bool {
        let last = self.outlet.let_go.last_ns;
        let last = last.filter(|_| windows.have_a_start());
        self.events.is_empty() && last.is_none_or(|last| windows.is_decided(last))
    }

    /// Takes the events that are in the ring now, up to the first one that a later trigger may
    /// request. Events recorded in the meantime wait for the next call, so that one busy thread
    /// does not keep the drain away from the other rings.
    fn take_all(
        &mut self,
        target: &mut impl Target,
        windows: Option<&Windows>,
        mut crowd: Crowd,
    ) -> Result<()> {
        let mut left = self.events.slots();
        while left > 0 {
            let count = left.min(MOST_TAKEN);
            if self.take(count, target, windows, &mut crowd)? < count {
                break;
            }
            left = left.saturating_sub(count);
        }
        Ok(())
    }

    fn take(
        &mut self,
        count: usize,
        target: &mut impl Target,
        windows: Option<&Windows>,
        crowd: &mut Crowd,
    ) -> Result<usize> {
        // The slots are available, because nothing but this drain takes events from the ring.
        let Ok(chunk) = self.events.read_chunk(count) else {
            return Err(Error::internal("events that are in the ring can be taken"));
        };
        let (first, second) = chunk.as_slices();
        let mut taken = 0_usize;
        let mut passed = Ok(());
        for slot in first.iter().chain(second) {
            passed = match windows {
                None => self.outlet.keep(slot, target),
                Some(windows) => match windows.judge(slot.event.timestamp_ns, crowd.is_out()) {
                    Verdict::Keep => self.outlet.keep(slot, target),
                    Verdict::LetGo => self.outlet.let_go(slot, windows.lanes(), target),
                    Verdict::Hold => break,
                },
            };
            if passed.is_err() {
                break;
            }
            if windows.is_some() {
                crowd.pass(slot);
            }
            taken = taken.wrapping_add(1);
        }
        chunk.commit(taken);
        passed.map(|()| taken)
    }
}

/// Moves the contents of a lane without a producer into a new lane of exactly their size, if there
/// is enough memory for it.
fn compact<T: Copy>(lane: &mut Consumer<T>) {
    if check_memory(lane.slots().saturating_mul(size_of::<T>())).is_err() {
        return;
    }
    let (mut producer, consumer) = RingBuffer::new(lane.slots());
    if let Ok(chunk) = lane.read_chunk(lane.slots()) {
        let (first, second) = chunk.as_slices();
        let all = first.iter().chain(second).copied();
        if let Ok(room) = producer.write_chunk_uninit(chunk.len()) {
            room.fill_from_iter(all);
        }
    }
    *lane = consumer;
}

impl Drop for Drain {
    fn drop(&mut self) {
        self.close();
    }
}

impl Outlet {
    /// Writes an event with its detail.
    #[inline]
    fn keep(&mut self, slot: &Slot, target: &mut impl Target) -> Result<()> {
        let writer = target.writer()?;
        match slot.payload_size {
            NO_DETAIL => drop(writer.write(&slot.event)?),
            MISSED => {
                writer.write(&slot.event)?;
                self.losses.details.add(slot.event.timestamp_ns);
            }
            _ => {
                self.write_with_detail(slot, writer)?;
                self.totals.details = self.totals.details.wrapping_add(1);
            }
        }
        self.totals.events = self.totals.events.wrapping_add(1);
        Ok(())
    }

    /// Discards an event that is outside every window, or only its detail.
    fn let_go(&mut self, slot: &Slot, lanes: Lanes, target: &mut impl Target) -> Result<()> {
        if lanes == Lanes::Details {
            target.writer()?.write(&slot.event)?;
            self.totals.events = self.totals.events.wrapping_add(1);
        }
        if lanes == Lanes::Both || slot.payload_size != NO_DETAIL {
            self.let_go.add(slot.event.timestamp_ns);
        }
        let size = slot.stored_size();
        if size > 0 {
            recorded(&mut self.payloads, size)?.commit_all();
        }
        Ok(())
    }

    /// Writes an event with its payload. Removes the payload from the ring if that succeeds.
    fn write_with_detail(&mut self, slot: &Slot, writer: &mut ThreadWriter) -> Result<()> {
        let chunk = recorded(&mut self.payloads, slot.stored_size())?;
        let payload = match chunk.as_slices() {
            (whole, []) => whole,
            (head, tail) => {
                self.joined.clear();
                self.joined.extend_from_slice(head);
                self.joined.extend_from_slice(tail);
                &self.joined
            }
        };
        let mut detail = Detail::new(slot.event_type, payload);
        detail.flags = slot.flags;
        let written = writer.write_with_detail(&slot.event, &detail).map(drop);
        if written.is_ok() {
            chunk.commit_all();
        }
        written
    }
}

impl Crowd {
    /// Returns whether the next event must leave the ring even if a trigger may request it.
    fn is_out(&self) -> bool {
        self.events > 0 || self.payload_size > 0
    }

    fn pass(&mut self, slot: &Slot) {
        self.events = self.events.saturating_sub(1);
        self.payload_size = self.payload_size.saturating_sub(slot.stored_size());
    }
}

/// Returns the bytes of a payload, which was recorded before its event.
fn recorded(lane: &mut Consumer<u8>, size: usize) -> Result<ReadChunk<'_, u8>> {
    let chunk = lane.read_chunk(size);
    chunk.map_err(|_| Error::internal("a payload is in its ring before its event"))
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
