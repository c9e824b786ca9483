//! Triggers that any thread and any signal handler may fire.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use atf::clock::now_ns;
use atf::internal::Origin;

use super::sleep;

/// The interval at which a waiting thread checks whether its triggers were served.
const LOOKING: Duration = Duration::from_millis(1);

/// The maximum number of triggers that the drain distinguishes per pass. For the rest, it receives
/// only the first and last time, and keeps everything in between.
const SLOTS: usize = 64;

/// A trigger for a recording's [windows](super::Window). It takes no lock and allocates no memory,
/// so signal handlers may use it.
#[derive(Debug, Clone)]
pub struct Trigger(pub(super) Arc<Triggers>);

/// Messages from triggers to the drain.
#[derive(Debug)]
pub(super) struct Triggers {
    /// The number of calls that are reading the clock. Until these calls end, the drain does not
    /// decide on recent events.
    pub(super) begun: AtomicU32,
    /// The times of triggers; [`NEVER`] in free slots.
    slots: [AtomicU64; SLOTS],
    /// The earliest time of the triggers without a slot, or [`NEVER`].
    first_ns: AtomicU64,
    /// The latest time of the triggers without a slot.
    last_ns: AtomicU64,
    /// The number of triggers fired.
    fired: AtomicU64,
    /// The number of triggers served: all events that they requested were passed to the operating
    /// system.
    served: AtomicU64,
    /// Whether the process may end once the triggers are served.
    is_ending: AtomicBool,
    /// The thread whose events to write first, or [`NO_THREAD`].
    first_thread: AtomicU64,
    /// The recording process.
    origin: Origin,
}

/// How long a call may take to read the clock. After that, the call is assumed to be abandoned, for
/// example because a signal handler jumped out of it.
const LONGEST: Duration = Duration::from_secs(1);

/// The drain's record of the calls that are reading the clock.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// The number of abandoned calls, which are assumed never to end.
    left: u32,
    /// The number of calls in the last pass.
    begun: u32,
    /// The time since which this number is known to be unchanged.
    since: Option<Instant>,
}

/// The value of a slot without a time.
const NEVER: u64 = u64::MAX;

/// No thread has this id.
const NO_THREAD: u64 = u64::MAX;

impl Trigger {
    /// Fires now and returns the time; see [`Recording::trigger`](super::Recording::trigger).
    pub fn fire(&self) -> u64 {
        self.fire_with(now_ns)
    }

    /// Like [`fire`](Self::fire), but for a process that may end once the trigger is served, for
    /// example in the handler of a fatal signal. The manifest has no `unwritten_events` once all
    /// requested events have been written or counted as lost, provided that the trigger requests no
    /// later events. If the process keeps running, `unwritten_events` is back in the manifest about
    /// a second later.
    pub fn fire_last(&self) -> u64 {
        // Store this before firing the trigger, so that the drain sees it when it serves the
        // trigger.
        self.0.is_ending.store(true, Ordering::Release);
        self.fire()
    }

    /// Makes the drain write this thread's events before those of the other threads, for example
    /// those of a thread that crashed.
    pub fn put_first(&self, thread_id: u32) {
        let first = &self.0.first_thread;
        first.store(thread_id.into(), Ordering::Relaxed);
    }

    /// Fires at the time that `read_clock` reads from the [`now_ns`] clock, and returns that time,
    /// for example for an event. Unlike with [`fire_at`](Self::fire_at), the drain discards nothing
    /// that the trigger requests while this call is in progress, unless the call takes over a
    /// second.
    #[inline]
    pub fn fire_with(&self, read_clock: impl FnOnce() -> u64) -> u64 {
        self.0.begun.fetch_add(1, Ordering::SeqCst);
        let now = read_clock();
        self.fire_at(now);
        self.0.begun.fetch_sub(1, Ordering::Release);
        now
    }

    /// Fires at a given time; see [`Recording::trigger_at`](super::Recording::trigger_at).
    pub fn fire_at(&self, timestamp_ns: u64) {
        let triggers = &*self.0;
        let time = timestamp_ns.min(NEVER - 1);
        let (success, failure) = (Ordering::Release, Ordering::Relaxed);
        // Once a trigger has found no slot, later ones do not search for one.
        let is_full = triggers.first_ns.load(Ordering::Relaxed) != NEVER;
        let is_stored = !is_full
            && triggers.slots.iter().any(|slot| {
                let stored = slot.compare_exchange(NEVER, time, success, failure);
                stored.is_ok()
            });
        if !is_stored {
            triggers.last_ns.fetch_max(time, Ordering::Relaxed);
            // Store the first time after the last one, so that a reader that sees the first also
            // sees the last.
            triggers.first_ns.fetch_min(time, Ordering::Release);
        }
        triggers.fired.fetch_add(1, Ordering::Release);
    }

    /// Waits until all recorded events requested by triggers so far have been handed to the
    /// operating system. Returns whether that happened before the deadline; in a forked child,
    /// which has no drain, returns `false` at once unless it already happened. Sleeps without
    /// holding a lock, so that the handler of a fatal signal can call this.
    #[must_use]
    pub fn wait(&self, deadline: Duration) -> bool {
        let fired = self.0.fired.load(Ordering::Acquire);
        let start = Instant::now();
        while self.0.served.load(Ordering::Acquire) < fired {
            if start.elapsed() >= deadline || self.0.origin.is_forked() {
                return false;
            }
            sleep(LOOKING);
        }
        true
    }
}

impl Calls {
    /// Returns whether any of the calls may be about to store a time. Ignores abandoned calls.
    pub(super) fn are_busy(&mut self, begun: u32, now: Instant) -> bool {
        // If there are fewer calls than were abandoned, some have ended after all.
        self.left = self.left.min(begun);
        if self.begun != begun {
            (self.begun, self.since) = (begun, None);
        }
        let since = *self.since.get_or_insert(now);
        if now.saturating_duration_since(since) >= LONGEST {
            self.left = begun;
        }
        begun > self.left
    }
}

impl Triggers {
    pub(super) fn new() -> Self {
        Self {
            begun: AtomicU32::new(0),
            slots: [const { AtomicU64::new(NEVER) }; SLOTS],
            first_ns: AtomicU64::new(NEVER),
            last_ns: AtomicU64::new(0),
            fired: AtomicU64::new(0),
            served: AtomicU64::new(0),
            is_ending: AtomicBool::new(false),
            first_thread: AtomicU64::new(NO_THREAD),
            origin: Origin::current(),
        }
    }

    /// Returns the number of triggers fired. The next [`take`](Self::take) returns them.
    pub(super) fn fired(&self) -> u64 {
        self.fired.load(Ordering::Acquire)
    }

    pub(super) fn served(&self) -> u64 {
        self.served.load(Ordering::Acquire)
    }

    /// Returns whether the process may end once the triggers fired so far are served.
    pub(super) fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::Acquire)
    }

    /// Returns whether to write this thread's events before those of the others.
    pub(super) fn is_first(&self, thread_id: u32) -> bool {
        self.first_thread.load(Ordering::Relaxed) == u64::from(thread_id)
    }

    /// Records that the process keeps running. Returns whether it was expected to end.
    pub(super) fn live_on(&self) -> bool {
        self.is_ending.swap(false, Ordering::AcqRel)
    }

    /// Returns the number of triggers that may be about to store a time earlier than now.
    pub(super) fn begun(&self) -> u32 {
        self.begun.load(Ordering::SeqCst)
    }

    /// Takes the times of new triggers. Triggers without a slot form one range.
    pub(super) fn take(&self, mut trigger: impl FnMut(u64, u64)) {
        for slot in &self.slots {
            let time = slot.swap(NEVER, Ordering::Acquire);
            if time != NEVER {
                trigger(time, time);
            }
        }
        let first = self.first_ns.swap(NEVER, Ordering::Acquire);
        if first != NEVER {
            trigger(first, self.last_ns.swap(0, Ordering::Relaxed).max(first));
        }
    }

    /// Marks the first `fired` triggers as served, which releases the threads waiting for them.
    pub(super) fn serve(&self, fired: u64) {
        self.served.fetch_max(fired, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_never_ends_is_ignored_and_later_ones_are_not() {
        let start = Instant::now();
        let mut calls = Calls::default();
        let mut are_busy = |begun, after: Duration| calls.are_busy(begun, start + after);
        let millisecond = Duration::from_millis(1);
        assert!(!are_busy(0, Duration::ZERO));
        assert!(are_busy(1, LONGEST));
        assert!(are_busy(1, 2 * LONGEST - millisecond));
        assert!(!are_busy(1, 2 * LONGEST));
        // The first call is still abandoned when another one begins.
        assert!(are_busy(2, 2 * LONGEST + millisecond));
        assert!(!are_busy(1, 2 * LONGEST + 2 * millisecond));
        // The first call has ended after all.
        assert!(!are_busy(0, 4 * LONGEST));
        assert!(are_busy(1, 4 * LONGEST + millisecond));
    }
}
