//! Counts the events and details that a thread lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use atf::manifest::{self, Loss, LossKind};
use atf::write::SessionWriter;

/// The losses of all registered threads.
#[derive(Debug, Default)]
pub(super) struct AllLosses {
    /// The losses of each thread that may still lose something.
    pub(super) threads: Vec<(u32, Arc<Losses>)>,
    /// The numbers of events and details lost by threads that are no longer in `threads`, over all
    /// segments.
    pub(super) lost: (u64, u64),
    /// The events lost in this segment by threads without files.
    unlisted: Option<Loss>,
}

/// The losses of one thread.
#[derive(Debug)]
pub(super) struct Losses {
    pub(super) events: Lane,
    pub(super) details: Lane,
    /// Whether draining has ended, after which every event is lost.
    is_closed: AtomicBool,
    /// Whether the recorder or the drain has left the ring.
    is_left: AtomicBool,
    /// The time after which events are not wanted, and therefore not counted as lost.
    wanted_until_ns: AtomicU64,
}

/// The losses in one lane.
#[derive(Debug)]
pub(super) struct Lane {
    count: AtomicU64,
    first_ns: AtomicU64,
    last_ns: AtomicU64,
    /// How many losses were reported in earlier segments.
    earlier: AtomicU64,
}

impl AllLosses {
    /// Passes the losses to the segment's manifest, including those of `unregistered` threads. If
    /// the segment `is_over`, later losses belong to the next one. Returns the numbers of events
    /// and details lost so far in all segments.
    pub(super) fn pass_to(
        &mut self,
        segment: &SessionWriter,
        unregistered: &Losses,
        is_over: bool,
    ) -> (u64, u64) {
        let loss = |lane: &Lane, all: &mut u64| {
            let before = lane.earlier();
            let loss = if is_over {
                lane.take_loss()
            } else {
                lane.loss()
            };
            let count = loss.map_or(0, |loss| loss.count);
            *all = all.saturating_add(before).saturating_add(count);
            loss
        };
        let mut all = self.lost;
        // The manifest lists only threads with files, so count the losses of the others together.
        let mut unlisted = loss(&unregistered.events, &mut all.0);
        self.threads.retain_mut(|(thread_id, losses)| {
            // Check this first: without another owner, the losses are final.
            let is_final = Arc::get_mut(losses).is_some();
            let events = loss(&losses.events, &mut all.0);
            let details = loss(&losses.details, &mut all.1);
            if !segment.has_thread(*thread_id) {
                let kept = if is_final {
                    &mut self.unlisted
                } else {
                    &mut unlisted
                };
                *kept = kept.take().into_iter().chain(events).reduce(Loss::plus);
            } else if events.is_some() || details.is_some() {
                let losses = manifest::Losses::default().with(LossKind::Events, events);
                segment.set_losses(*thread_id, losses.with(LossKind::Details, details));
            }
            if is_final {
                let (events, details) = (losses.events.count(), losses.details.count());
                self.lost = (
                    self.lost.0.saturating_add(events),
                    self.lost.1.saturating_add(details),
                );
            }
            !is_final
        });
        let unlisted = unlisted.into_iter().chain(self.unlisted);
        segment.set_lost_events(unlisted.reduce(Loss::plus));
        if is_over {
            self.unlisted = None;
        }
        all
    }
}

impl Losses {
    pub(super) fn new() -> Self {
        Self {
            events: Lane::new(),
            details: Lane::new(),
            is_closed: AtomicBool::new(false),
            is_left: AtomicBool::new(false),
            wanted_until_ns: AtomicU64::new(u64::MAX),
        }
    }

    /// Counts a lost event, unless it is too late to be wanted.
    pub(super) fn lose_event(&self, timestamp_ns: u64) {
        if timestamp_ns <= self.wanted_until_ns.load(Ordering::Acquire) {
            self.events.add(timestamp_ns);
        }
    }

    /// Sets the time after which no events are wanted.
    pub(super) fn want_until(&self, timestamp_ns: u64) {
        self.wanted_until_ns.store(timestamp_ns, Ordering::Release);
    }

    pub(super) fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
    }

    /// Signals to the other end of the ring that this end has left it. Returns whether the other
    /// end left first. The end that leaves last sees all events that are still in the ring.
    pub(super) fn leave(&self) -> bool {
        self.is_left.swap(true, Ordering::AcqRel)
    }

    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }
}

impl Lane {
    const fn new() -> Self {
        Self {
            count: AtomicU64::new(0),
            first_ns: AtomicU64::new(u64::MAX),
            last_ns: AtomicU64::new(0),
            earlier: AtomicU64::new(0),
        }
    }

    pub(super) fn add(&self, timestamp_ns: u64) {
        self.add_all(&Loss::new(1, timestamp_ns, timestamp_ns));
    }

    pub(super) fn add_all(&self, loss: &Loss) {
        self.first_ns.fetch_min(loss.first_ns, Ordering::Relaxed);
        self.last_ns.fetch_max(loss.last_ns, Ordering::Relaxed);
        // Stored after the times, so that a reader that sees this count also sees the times.
        self.count.fetch_add(loss.count, Ordering::Release);
    }

    pub(super) fn count(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    /// Returns how many losses were reported in earlier segments.
    pub(super) fn earlier(&self) -> u64 {
        self.earlier.load(Ordering::Relaxed)
    }

    /// Returns the number and times of the losses in this segment; `None` if there are none.
    pub(super) fn loss(&self) -> Option<Loss> {
        self.loss_of(self.count())
    }

    /// Like [`loss`](Self::loss), but also starts the counts of the next segment.
    pub(super) fn take_loss(&self) -> Option<Loss> {
        let count = self.count();
        let loss = self.loss_of(count);
        self.first_ns.store(u64::MAX, Ordering::Relaxed);
        self.last_ns.store(0, Ordering::Relaxed);
        self.earlier.store(count, Ordering::Relaxed);
        loss
    }

    fn loss_of(&self, count: u64) -> Option<Loss> {
        let count = count.saturating_sub(self.earlier());
        let [first_ns, last_ns] =
            [&self.first_ns, &self.last_ns].map(|time| time.load(Ordering::Relaxed));
        // If a loss was being added when the segment began, one of its times may be in the previous
        // segment.
        let (first_ns, last_ns) = match first_ns {
            u64::MAX => (last_ns, last_ns),
            _ => (first_ns, first_ns.max(last_ns)),
        };
        (count > 0).then(|| Loss::new(count, first_ns, last_ns))
    }
}
