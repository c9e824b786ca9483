//! Options and results of a recording.

use std::time::Duration;

use atf::index::IndexEvent;
use atf::write::{SessionTotals, SessionWriter};
use atf::{Error, ErrorKind, Result, with_setters};

use super::{Capacity, Overflow, Segment, Window, ring_size};

with_setters! {
    /// Options of a recording.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct RecordOptions {
        /// The capacity of each thread's ring.
        pub capacity: Capacity,
        /// The policy for events that do not fit into their ring.
        pub overflow: Overflow,
        /// How long the drain sleeps after finding all rings empty.
        pub interval: Duration,
        /// The maximum number of threads that may record at the same time. Each uses a ring, two
        /// buffers ([`buffer_size`](atf::write::WriteOptions::buffer_size)) and up to three open
        /// files. With a [`Window`], threads whose files are open count even after they have ended.
        pub max_threads: usize,
        /// The memory limit for the rings of all live threads together, in bytes, including the
        /// times of discarded events ([`Window`]). Rings of the full [`capacity`](Self::capacity)
        /// use up to half of it. If a new ring does not fit into that half, its capacity is halved
        /// until it fits into the rest of that half, or into one sixteenth of the limit divided by
        /// the number of threads, but not below 256 events and 16 KiB of payloads. A thread whose
        /// ring still does not fit is not recorded, and its events count as lost. Rings are also
        /// halved if the system does not have enough memory for them.
        /// [`RecordSummary::smaller_rings`] counts the threads with smaller rings.
        pub ring_memory: usize,
        /// The [`Window`] around triggers in which to record in full; `None` to record everything.
        /// Needs rings.
        pub window: Option<Window>,
        /// When to continue in another session. `None` means never. Needs rings.
        pub segment: Option<Segment>,
        /// Whether the end of the process stops the recording: a return from `main`, or
        /// [`exit`](std::process::exit). Functions that the program registered earlier with
        /// `atexit`, and destructors of the program itself, run later, so their events are lost;
        /// if they call [`stop`](super::Recording::stop), it returns the outcome. Has no effect on
        /// systems other than Unix.
        pub stop_at_exit: bool,
    }
}

impl Default for RecordOptions {
    /// The drain checks the rings every millisecond; 256 threads may record; all rings together
    /// use at most 2 GiB; the end of the process stops the recording.
    fn default() -> Self {
        Self {
            capacity: Capacity::default(),
            overflow: Overflow::default(),
            interval: Duration::from_millis(1),
            max_threads: 256,
            ring_memory: 2 << 30,
            window: None,
            segment: None,
            stop_at_exit: true,
        }
    }
}

impl RecordOptions {
    /// Checks that the options fit the session.
    pub(super) fn check(&self, session: &SessionWriter) -> Result<()> {
        self.capacity.check()?;
        if let Some(keep) = self.segment.and_then(|segment| segment.keep) {
            super::check("keep", keep, 1, usize::MAX)?;
        }
        let window = self.window.map(|_| "window");
        match window.or(self.segment.map(|_| "segment")) {
            Some(field) if session.options().survive_kill => {
                let error = Error::new(ErrorKind::NeedsRings).with_field(field);
                Err(error.with_path(Some(session.path())))
            }
            _ => Ok(()),
        }
    }

    /// Returns the capacity of a new ring when `count` other rings use `taken` bytes; `None` if the
    /// new ring does not fit into the memory limit.
    pub(super) fn next_capacity(&self, count: usize, taken: usize) -> Option<Capacity> {
        /// A ring may always use 1 / `PARTS` of the limit, divided by the number of threads.
        const PARTS: usize = 16;
        let is_judged = self.window.is_some();
        let (limit, full) = (self.ring_memory, self.capacity);
        let threads = count.saturating_add(1).saturating_mul(PARTS);
        let share = limit.checked_div(threads)?;
        let most = (limit / 2).saturating_sub(taken).max(share);
        let mut capacity = full;
        while ring_size(capacity, is_judged) > most && !capacity.is_least(full) {
            capacity = capacity.half(full);
        }
        let size = taken.checked_add(ring_size(capacity, is_judged))?;
        (size <= limit).then_some(capacity)
    }

    /// Records in the manifest which events are missing if the process dies, unless all of them
    /// survive: those in a thread's ring and its writer's buffer, and the latest drops.
    pub(super) fn declare_unwritten(&self, session: &SessionWriter) {
        session.keep_spare();
        let options = session.options();
        if options.survive_kill {
            return;
        }
        let buffer = options.buffer_capacity() / IndexEvent::SIZE;
        let events = self.capacity.events.saturating_add(buffer);
        session.set_unwritten_events(Some(events as u64));
        if self.overflow != Overflow::Block {
            session.set_drops_events();
        }
    }
}

/// The result of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordSummary {
    /// The session's totals. With [segments](Segment), the sums over all segments: a thread counts
    /// once per segment.
    pub totals: SessionTotals,
    /// The number of sessions written: 1 without [segments](Segment).
    pub segments: u64,
    /// The number of lost events; their details were lost with them.
    pub lost_events: u64,
    /// The number of lost details whose events were recorded.
    pub lost_details: u64,
    /// The number of threads whose rings were smaller than the [capacity](RecordOptions::capacity),
    /// because of [`ring_memory`](RecordOptions::ring_memory).
    pub smaller_rings: u64,
}

impl Capacity {
    /// The minimum capacity to which a ring is reduced.
    const LEAST: Self = Self {
        events: 256,
        payload_size: 16 << 10,
    };

    /// Returns half of this capacity, but at least [`LEAST`](Self::LEAST) or the smaller `full`.
    pub(super) fn half(self, full: Self) -> Self {
        let half = |own: usize, least: usize, full: usize| (own / 2).max(least.min(full));
        let least = Self::LEAST;
        Self {
            events: half(self.events, least.events, full.events),
            payload_size: half(self.payload_size, least.payload_size, full.payload_size),
        }
    }

    pub(super) fn is_least(self, full: Self) -> bool {
        self == self.half(full)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Window;

    const MIB: usize = 1 << 20;

    /// Returns the capacity in events of each ring, for up to `threads` threads.
    fn rings(options: &RecordOptions, threads: usize) -> Vec<usize> {
        let (mut taken, mut events) = (0, Vec::new());
        for count in 0..threads {
            let Some(capacity) = options.next_capacity(count, taken) else {
                break;
            };
            taken = ring_size(capacity, options.window.is_some()).saturating_add(taken);
            assert!(taken <= options.ring_memory);
            events.push(capacity.events);
        }
        events
    }

    #[test]
    fn rings_of_many_threads_get_smaller_and_all_fit() {
        let options = RecordOptions::default();
        // Each ring uses 3 MiB, and all of them may use 1 GiB.
        assert_eq!(rings(&options, 256), [1 << 16; 256]);
        let flight = Capacity::default().events(1 << 20).payload_size(0);
        let flight = options.max_threads(4096).capacity(flight);
        let flight = flight.window(Some(Window::default()));
        // Each ring uses 33.5 MiB: a million events of 32 bytes, and 65,536 timestamps of 24 bytes.
        let events = rings(&flight, 4096);
        assert_eq!(events.len(), 4096);
        assert!(events.starts_with(&[1 << 20; 30]));
        let some = [31, 100, 4095].map(|thread: usize| events.get(thread).copied());
        assert_eq!(some, [1 << 16, 1 << 14, 512].map(Some));
    }

    #[test]
    fn a_limit_that_is_too_small_leaves_threads_without_rings() {
        let options = RecordOptions::default().ring_memory(MIB / 4);
        // Half of the limit is 128 KiB, into which a ring of 1/32 of 3 MiB fits. The smallest ring
        // uses 24 KiB.
        let rings = rings(&options, 256);
        assert!(rings.starts_with(&[2048, 512]), "{rings:?}");
        assert!(rings.len() < 12, "{rings:?}");
        assert_eq!(options.ring_memory(1000).next_capacity(0, 0), None);
        // A ring smaller than the minimum is not enlarged.
        let tiny = Capacity::default().events(3).payload_size(0);
        let tiny = options.ring_memory(200).capacity(tiny);
        assert_eq!(tiny.next_capacity(0, 0), Some(tiny.capacity));
        assert_eq!(tiny.next_capacity(1, 96), Some(tiny.capacity));
        assert_eq!(tiny.next_capacity(2, 192), None);
    }
}
