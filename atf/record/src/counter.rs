//! The processor's counter as a clock.

use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use atf::clock::now_ns;

use crate::sys::{is_invariant, ticks};

/// The duration of the first rate measurement, in nanoseconds.
const FIRST_NS: u64 = 1_000_000;
/// The longest time between adjustments, in nanoseconds.
const LONGEST_NS: u64 = 1_000_000_000;
/// If the counter's time is this many nanoseconds behind the clock, the machine was asleep, and the
/// counter's time jumps ahead.
const JUMP_NS: u64 = 1_000_000;
/// How many times both clocks are read for one comparison.
const READINGS: u32 = 8;
/// How many times an adjustment that comes too late is repeated before it is used anyway. If
/// everything is slow, as in an emulator, every adjustment comes too late.
const MOST_ATTEMPTS: u32 = 16;
/// The number of bits after the binary point in a rate.
const FRACTION: u32 = 32;

/// A clock with the same timeline as [`now_ns`] that is faster to read, because it uses the
/// processor's time-stamp counter.
///
/// The rate is measured at the start and at each [`adjust`](Self::adjust). An adjustment also
/// corrects any difference from [`now_ns`] by letting the counter's time run slightly faster or
/// slower. So the counter's time never jumps back, and jumps ahead only after the machine has
/// slept.
///
/// ```
/// use atf::clock::now_ns;
/// use atf_record::CounterClock;
///
/// if let Some(clock) = CounterClock::start() {
///     let (before, counted, after) = (now_ns(), clock.now_ns(), now_ns());
///     clock.adjust();
/// #   let limit = 1_000_000;
/// #   assert!(before < counted + limit && counted < after + limit);
///     println!("off by {} ns at most", clock.error_ns());
/// }
/// ```
#[derive(Debug)]
pub struct CounterClock {
    /// How many times the line has been replaced. The lowest bit is the index of the current line.
    generation: AtomicU64,
    lines: [Line; 2],
    /// The largest measured difference between the two clocks.
    error_ns: AtomicU64,
    calibration: Mutex<Calibration>,
}

/// The counter's time as a straight line.
#[derive(Debug, Default)]
struct Line {
    ticks: AtomicU64,
    ns: AtomicU64,
    /// Nanoseconds per tick, with [`FRACTION`] bits after the binary point.
    rate: AtomicU64,
}

/// The state between adjustments.
#[derive(Debug)]
struct Calibration {
    /// The moment from which the rate is measured.
    reference: Moment,
    /// When the next adjustment is due.
    due_ticks: u64,
    interval_ns: u64,
}

/// A moment on both clocks.
#[derive(Debug, Clone, Copy)]
struct Moment {
    ticks: u64,
    ns: u64,
    /// How long the comparison took, in ticks.
    width: u64,
}

impl CounterClock {
    /// Starts the clock by measuring the counter's rate, which takes a millisecond. Returns `None`
    /// if the counter does not run at a constant rate or the processor is not `x86_64`.
    #[must_use]
    pub fn start() -> Option<Self> {
        if !Self::is_available() {
            return None;
        }
        let first = Moment::now();
        thread::sleep(Duration::from_nanos(FIRST_NS));
        Self::after(first, Moment::now())
    }

    /// Returns a clock with the rate between two moments, which begins at the second.
    fn after(first: Moment, second: Moment) -> Option<Self> {
        let rate = first.rate_to(second)?;
        let this = Self {
            generation: AtomicU64::new(0),
            lines: Default::default(),
            error_ns: AtomicU64::new(in_ns(second.width, rate)),
            calibration: Mutex::new(Calibration {
                reference: first,
                due_ticks: second.ticks,
                interval_ns: second.ns.saturating_sub(first.ns),
            }),
        };
        this.set(second.ticks, second.ns, rate);
        Some(this)
    }

    /// Returns whether the processor has a counter that runs at a constant rate.
    #[must_use]
    pub fn is_available() -> bool {
        is_invariant()
    }

    /// Returns the time in nanoseconds, on the timeline of [`now_ns`].
    #[must_use]
    #[inline]
    pub fn now_ns(&self) -> u64 {
        self.at(ticks())
    }

    /// Returns the largest measured difference from [`now_ns`] in nanoseconds.
    #[must_use]
    pub fn error_ns(&self) -> u64 {
        self.error_ns.load(Ordering::Relaxed)
    }

    /// Compares the two clocks if a comparison is due: the first one after a millisecond, the next
    /// after twice that, and so on up to one per second. A tracer's thread may call this as often
    /// as it likes.
    pub fn adjust(&self) {
        let mut calibration = self.calibration();
        let (now, due) = (ticks(), calibration.due_ticks);
        if now >= due || now < calibration.reference.ticks {
            self.compare(&mut calibration);
        }
    }

    /// Compares the two clocks one last time.
    pub(crate) fn finish(&self) {
        self.compare(&mut self.calibration());
    }

    fn calibration(&self) -> std::sync::MutexGuard<'_, Calibration> {
        let calibration = self.calibration.lock();
        calibration.unwrap_or_else(PoisonError::into_inner)
    }

    fn compare(&self, calibration: &mut Calibration) {
        // Ignore `None`: there is nothing to adjust if a clock has not moved.
        let _ = self.follow(calibration, Moment::now(), ticks);
    }

    /// Replaces the line with one that converges on the clock, given a moment on both clocks.
    /// `ticks` reads the counter. The new line begins at a tick that is read as late as possible,
    /// because the old line remains in use until then, even if this thread is paused for a while.
    /// Returns `None` if one of the clocks has not moved since the last comparison.
    fn follow(
        &self,
        calibration: &mut Calibration,
        now: Moment,
        mut ticks: impl FnMut() -> u64,
    ) -> Option<()> {
        if now.ticks < calibration.reference.ticks {
            return self.restart(calibration, now);
        }
        let rate = calibration.reference.rate_to(now)?;
        let error = self.at(now.ticks).abs_diff(now.ns);
        let uncertain = in_ns(now.width, rate);
        self.error_ns
            .fetch_max(error.saturating_add(uncertain), Ordering::Relaxed);

        calibration.interval_ns = calibration.interval_ns.saturating_mul(2).min(LONGEST_NS);
        if calibration.interval_ns == LONGEST_NS {
            // Measure the next rate from this moment, because the system adjusts the clock's rate
            // over time.
            calibration.reference = now;
        }
        let interval = calibration.interval_ns;
        let length = divided(interval, rate)?;
        for attempt in 1..=MOST_ATTEMPTS {
            let begin = ticks();
            calibration.due_ticks = begin.saturating_add(length);
            let since = in_ns(begin.saturating_sub(now.ticks), rate);
            let (clock, mine) = (now.ns.saturating_add(since), self.at(begin));
            let start = if clock.saturating_sub(mine) > JUMP_NS {
                clock
            } else {
                mine
            };
            // Choose the rate so that both clocks show the same time at the next adjustment.
            let end = clock.saturating_add(interval);
            let meeting = divided(end.saturating_sub(start), length)?;
            let next = meeting.max(rate / 2);
            // If this thread was paused after `begin`, others may have read times from the old line
            // that the new one has not reached yet. Without a pause, the lines differ by 1 ns at
            // most, because times are rounded down.
            let late = ticks();
            let reached = start.saturating_add(in_ns(late.saturating_sub(begin), next));
            if reached.saturating_add(1) >= self.at(late) || attempt == MOST_ATTEMPTS {
                self.set(begin, start, next);
                break;
            }
        }
        Some(())
    }

    /// Continues at the clock's time after the counter was reset, as can happen while the machine
    /// sleeps, and measures the rate again.
    fn restart(&self, calibration: &mut Calibration, now: Moment) -> Option<()> {
        let generation = self.generation.load(Ordering::Relaxed);
        let rate = self.line(generation).rate.load(Ordering::Relaxed);
        let reached = self.at(now.ticks);
        self.error_ns
            .fetch_max(reached.abs_diff(now.ns), Ordering::Relaxed);
        calibration.reference = now;
        calibration.interval_ns = FIRST_NS;
        calibration.due_ticks = now.ticks.saturating_add(divided(FIRST_NS, rate)?);
        self.set(now.ticks, reached.max(now.ns), rate);
        Some(())
    }

    /// Converts a reading of the counter to a time.
    #[inline]
    fn at(&self, ticks: u64) -> u64 {
        loop {
            let generation = self.generation.load(Ordering::Acquire);
            let line = self.line(generation);
            let [start, ns, rate] =
                [&line.ticks, &line.ns, &line.rate].map(|part| part.load(Ordering::Relaxed));
            fence(Ordering::Acquire);
            // If the generation has changed, the line may have been replaced in the meantime.
            if self.generation.load(Ordering::Relaxed) == generation {
                return ns.saturating_add(in_ns(ticks.saturating_sub(start), rate));
            }
        }
    }

    #[inline]
    fn line(&self, generation: u64) -> &Line {
        let [first, second] = &self.lines;
        if generation & 1 == 0 { first } else { second }
    }

    /// Replaces the line. Only one thread at a time may do this.
    fn set(&self, ticks: u64, ns: u64, rate: u64) {
        let generation = self.generation.load(Ordering::Relaxed).wrapping_add(1);
        let line = self.line(generation);
        // Readers of the line that is about to be overwritten must see a new generation.
        fence(Ordering::Release);
        line.ticks.store(ticks, Ordering::Relaxed);
        line.ns.store(ns, Ordering::Relaxed);
        line.rate.store(rate, Ordering::Relaxed);
        self.generation.store(generation, Ordering::Release);
    }
}

impl Moment {
    /// Reads both clocks several times and returns the closest pair.
    fn now() -> Self {
        let read = |_| {
            let before = ticks();
            let ns = now_ns();
            let width = ticks().saturating_sub(before);
            let ticks = before.saturating_add(width / 2);
            Self { ticks, ns, width }
        };
        let first = read(0);
        let others = (1..READINGS).map(read);
        others.fold(
            first,
            |best, one| {
                if one.width < best.width { one } else { best }
            },
        )
    }

    /// Returns the rate between this moment and a later one; `None` if the counter or the clock did
    /// not move.
    fn rate_to(self, later: Self) -> Option<u64> {
        let ns = later.ns.checked_sub(self.ns)?;
        let ticks = later.ticks.checked_sub(self.ticks)?;
        divided(ns, ticks).filter(|rate| *rate > 0)
    }
}

/// Converts ticks to nanoseconds.
#[inline]
fn in_ns(ticks: u64, rate: u64) -> u64 {
    let product = u128::from(ticks).wrapping_mul(u128::from(rate)) >> FRACTION;
    #[allow(clippy::cast_possible_truncation, reason = "584 years of ns")]
    let ns = product as u64;
    ns
}

/// Divides nanoseconds by a rate, which gives ticks, or by ticks, which gives a rate. Returns
/// `None` if the result does not fit in 64 bits.
fn divided(ns: u64, by: u64) -> Option<u64> {
    let quotient = (u128::from(ns) << FRACTION).checked_div(by.into())?;
    u64::try_from(quotient).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn moment(ticks: u64, ns: u64) -> Moment {
        Moment {
            ticks,
            ns,
            width: 0,
        }
    }

    /// Returns a clock that runs at 1 ns per tick.
    fn clock() -> CounterClock {
        CounterClock::after(moment(0, 0), moment(1_000_000, 1_000_000)).unwrap()
    }

    /// Compares the counter with the clock at `now`.
    #[track_caller]
    fn follow(clock: &CounterClock, now: Moment, ticks: impl FnMut() -> u64) {
        let followed = clock.follow(&mut clock.calibration(), now, ticks);
        assert_eq!(followed, Some(()));
    }

    /// Returns the counter's times at tick `begin`, just before and just after the line is replaced
    /// at that tick. The counter was compared with the clock at tick 1,000,000.
    fn around(clock_ns: u64, begin: u64) -> (u64, u64) {
        let clock = clock();
        let before = clock.at(begin);
        follow(&clock, moment(1_000_000, clock_ns), || begin);
        (before, clock.at(begin))
    }

    #[test]
    fn a_line_that_is_replaced_late_does_not_go_back() {
        // The counter runs ahead, so the new line is less steep.
        assert_eq!(around(900_000, 1_000_000), (1_000_000, 1_000_000));
        assert_eq!(around(900_000, 9_000_000), (9_000_000, 9_000_000));
    }

    #[test]
    fn a_line_that_is_replaced_late_jumps_to_the_current_time_of_the_clock() {
        // The machine slept, so the clock advances by 4 ns per tick.
        assert_eq!(around(4_000_000, 1_000_000), (1_000_000, 4_000_000));
        assert_eq!(around(4_000_000, 2_000_000), (2_000_000, 8_000_000));
    }

    #[test]
    fn after_a_pause_the_new_line_begins_at_the_current_time_of_the_old_one() {
        let clock = clock();
        // The thread is paused between the first two readings.
        let mut readings = [1_000_000, 9_000_000, 9_000_000, 9_000_001].into_iter();
        let ticks = || readings.next().unwrap_or_default();
        follow(&clock, moment(1_000_000, 900_000), ticks);
        assert_eq!(readings.next(), None);
        assert_eq!(clock.at(9_000_000), 9_000_000);
        assert!(clock.at(9_001_000) < 9_001_000);
    }

    #[test]
    fn a_line_that_is_late_every_time_is_eventually_used() {
        let clock = clock();
        let mut reading = 0;
        let ticks = || {
            reading += 1_000_000;
            reading
        };
        follow(&clock, moment(1_000_000, 900_000), ticks);
        let last = 2 * u64::from(MOST_ATTEMPTS) * 1_000_000;
        assert_eq!((reading, clock.at(last) < last), (last, true));
    }

    #[test]
    fn time_continues_after_the_counter_is_reset() {
        let clock = clock();
        clock.set(5_000_000, 5_000_000, 1 << FRACTION);
        clock.calibration().reference = moment(4_000_000, 4_000_000);
        follow(&clock, moment(1_000, 7_000_000), || 1_000);
        assert_eq!(clock.at(2_000), 7_001_000);
        assert_eq!(clock.error_ns(), 2_000_000);
        // From then on, the rate is measured again.
        follow(&clock, moment(1_001_000, 9_000_000), || 1_001_000);
        assert_eq!(clock.at(1_001_000), 8_000_000);
    }
}
