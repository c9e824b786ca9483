//! Time windows around triggers.

use std::time::Duration;

use atf::with_setters;

with_setters! {
    /// A time window around each trigger in which to record in full (S1, S2, S4): see
    /// [`Recording::trigger`](super::Recording::trigger).
    ///
    /// A trigger at time `t` requests everything from `t - pre_roll` to `t + post_roll`, both
    /// inclusive, on all threads. Everything else is discarded and does not count as lost.
    /// Timestamps must come from [`now_ns`](atf::clock::now_ns), because the drain compares them
    /// with that clock.
    ///
    /// The rings hold events until they are older than the pre-roll. A ring that is more than half
    /// full discards its oldest events early, so the pre-roll is also limited to half of the
    /// [capacity](super::Capacity), in events and in payload bytes. Events discarded early count as
    /// lost if a later trigger's pre-roll includes them. With a pre-roll of [`Duration::MAX`], a
    /// trigger requests everything the rings hold, and events discarded early do not count as lost.
    /// With [`Lanes::Both`], they do if [`ring_memory`](super::RecordOptions::ring_memory) made
    /// their ring smaller, and half of a full ring would have held them.
    ///
    /// Loss counts are exact for the times in the manifest. If a ring discards more events within
    /// the pre-roll and a second than it holds, or more than 65,536, their times are stored in
    /// groups, so the times in the manifest may begin before the window. In that case, up to 4/N of
    /// the discarded events are also counted, where N is the ring's capacity in events, but at most
    /// 65,536.
    ///
    /// A ring uses memory only for the parts written so far. When a thread ends, the events that a
    /// trigger may still request move to a block of exactly the size they need: 32 bytes each, plus
    /// their payloads. The events of all ended threads use at most 512 MiB, unless there is only
    /// one such thread. At most 128 ended threads with open files keep events: with
    /// [`Lanes::Details`], all of them have files; with [`Lanes::Both`], only those whose events
    /// were requested. Beyond that, the events of the thread that ended first count as lost. Each
    /// live thread uses up to its [capacity](super::Capacity), plus 1.5 MiB for the times of
    /// discarded events. All live threads together use at most
    /// [`ring_memory`](super::RecordOptions::ring_memory), so with many threads, rings are smaller.
    ///
    /// With [`Lanes::Both`], a thread gets files when a trigger first requests one of its events,
    /// when it loses any, or when the recording stops while the thread is alive. A thread that has
    /// ended without files does not count towards `max_threads`.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct Window {
        /// The lanes that are recorded only inside windows.
        pub lanes: Lanes,
        /// How long before a trigger to start keeping events.
        pub pre_roll: Duration,
        /// How long after a trigger to continue keeping events.
        pub post_roll: Duration,
        /// Whether stopping the recording fires a trigger.
        pub on_stop: bool,
    }
}

/// The lanes that are recorded only inside windows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Lanes {
    /// Details. All events are recorded, but without their details outside windows.
    #[default]
    Details,
    /// Events and details, as in a flight recorder.
    Both,
}

/// The maximum number of separate windows. Beyond that, the two oldest are merged. At worst, this
/// keeps extra events.
const MOST_WINDOWS: usize = 1024;

/// The windows of a recording.
#[derive(Debug, Default)]
pub(super) struct Windows {
    options: Window,
    /// The first and last moment of each window; the windows are in order and do not overlap.
    ranges: Vec<(u64, u64)>,
    /// The start of the window that is still open.
    open: Option<u64>,
    /// The ranges added since the last pass.
    pub(super) added: Vec<(u64, u64)>,
    /// The time before which later triggers cannot request events.
    pub(super) decided_ns: u64,
}

/// The decision on an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Write the event with its detail.
    Keep,
    /// Discard the event or its detail.
    LetGo,
    /// Hold the event, because a later trigger may request it.
    Hold,
}

impl Windows {
    pub(super) fn new(options: Window) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }

    /// Adds the window of the triggers between `first_ns` and `last_ns`.
    pub(super) fn trigger(&mut self, first_ns: u64, last_ns: u64) {
        let start = first_ns.saturating_sub(nanoseconds(self.options.pre_roll));
        let end = last_ns.saturating_add(nanoseconds(self.options.post_roll));
        self.add(start, end);
    }

    pub(super) fn add(&mut self, start: u64, end: u64) {
        self.added.push((start, end));
        let before = self.ranges.partition_point(|range| range.1 < start);
        let touched = self.ranges.get(before..).unwrap_or_default();
        let touched = touched.partition_point(|range| range.0 <= end);
        let after = before.saturating_add(touched);
        let mut joined = (start, end);
        for range in self.ranges.drain(before..after) {
            joined = (joined.0.min(range.0), joined.1.max(range.1));
        }
        self.ranges.insert(before, joined);
        if let [first, second, ..] = *self.ranges
            && self.ranges.len() > MOST_WINDOWS
        {
            self.ranges.splice(..2, [(first.0, second.1)]);
        }
    }

    /// Opens or closes a window, unless it already is open or closed.
    pub(super) fn set_open(&mut self, is_open: bool, now_ns: u64) {
        match (self.open, is_open) {
            (None, true) => {
                self.open = Some(now_ns);
                self.added.push((now_ns, u64::MAX));
            }
            (Some(start), false) => {
                self.open = None;
                // It may have been opened during the same pass.
                self.added.retain(|range| *range != (start, u64::MAX));
                self.add(start, now_ns);
            }
            _ => {}
        }
    }

    /// Decides on all events older than the pre-roll, because all triggers up to `now_ns` are
    /// known.
    pub(super) fn decide_at(&mut self, now_ns: u64) {
        let decided_ns = now_ns.saturating_sub(nanoseconds(self.options.pre_roll));
        self.decided_ns = self.decided_ns.max(decided_ns);
    }

    /// Decides on all events, because there will be no more triggers.
    pub(super) fn decide_all(&mut self, now_ns: u64) {
        if self.options.on_stop {
            self.trigger(now_ns, now_ns);
        }
        self.decided_ns = u64::MAX;
    }

    pub(super) fn lanes(&self) -> Lanes {
        self.options.lanes
    }

    /// Returns whether any window includes events after `now_ns`.
    pub(super) fn ask_for_later(&self, now_ns: u64) -> bool {
        let last = self.ranges.last();
        self.open.is_some() || last.is_some_and(|last| last.1 > now_ns)
    }

    /// Returns whether the pre-roll has a limit. An unlimited pre-roll covers everything the rings
    /// hold.
    pub(super) fn have_a_start(&self) -> bool {
        nanoseconds(self.options.pre_roll) < u64::MAX
    }

    /// Returns whether no later trigger can request events from this time.
    pub(super) fn is_decided(&self, timestamp_ns: u64) -> bool {
        timestamp_ns < self.decided_ns
    }

    /// Decides on an event. If the ring `is_crowded`, the event cannot stay in it.
    pub(super) fn judge(&self, timestamp_ns: u64, is_crowded: bool) -> Verdict {
        let next = self.ranges.partition_point(|range| range.1 < timestamp_ns);
        let is_inside = self.ranges.get(next).map(|range| range.0 <= timestamp_ns);
        let is_open = self.open.is_some_and(|start| start <= timestamp_ns);
        if is_open || is_inside == Some(true) {
            Verdict::Keep
        } else if is_crowded || self.is_decided(timestamp_ns) {
            Verdict::LetGo
        } else {
            Verdict::Hold
        }
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    // A `u64` of nanoseconds does not overflow for 584 years.
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
