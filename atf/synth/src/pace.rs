//! Decides when a thread's events happen, and thus how the events of several threads interleave.

use crate::random::Random;
use crate::synth::{Shape, Synth};

/// The first timestamp of a trace in nanoseconds: about 17 minutes after boot.
const START_NS: u64 = 1_000_000_000_000;
/// Threads start within this many nanoseconds of one another.
const SKEW_NS: u32 = 1_000_000;
/// The longest gap between two events of a turn, which limits how long a turn can last.
const TURN_GAP_NS: u64 = 64;
/// With random arrivals, half of the events arrive within this many nanoseconds of the previous
/// one, half of the remaining events within twice that time, and so on.
const HALF_NS: u32 = 64;
/// The time between two events of a perfect interleave.
const STEP_NS: u64 = 25;
/// Events in one turn of a thread when several threads are active at once.
const ACTIVE_TURN: (u32, u32) = (100, 1000);

/// The number of the first random stream for turns. Threads use lower numbers.
const TURNS: u64 = 1 << 40;

/// The clock of one thread: converts the call tree's gaps into timestamps.
#[derive(Debug, Clone)]
pub(crate) enum Pace {
    /// Uses the call tree's gaps unchanged.
    Free { now: u64 },
    /// Uses random gaps that are independent of one another.
    Random { now: u64, gaps: Random },
    /// Generates events only during the thread's turns.
    Turns(Turns),
    /// Generates one event per round. All threads take part in each round.
    Interleave { next: u64, step: u64 },
}

/// Each round has one time slot per group of threads, and a thread works only in its group's slots.
/// A thread's group changes from round to round. Each thread computes its own group, so threads can
/// be generated one at a time.
#[derive(Debug, Clone)]
pub(crate) struct Turns {
    seed: u64,
    thread: u32,
    threads: u32,
    /// The number of threads that share a slot.
    active: u32,
    /// The minimum and maximum number of events per turn.
    length: (u32, u32),
    lengths: Random,
    round: u64,
    /// The number of events left in this turn.
    left: u32,
    now: u64,
}

impl Pace {
    pub(crate) fn new(synth: &Synth, thread: u32) -> Self {
        let mut random = Random::new(synth.seed, TURNS - 1 - u64::from(thread));
        let turns = |active: u32, (low, high): (u32, u32), lengths| {
            Self::Turns(Turns {
                seed: synth.seed,
                thread,
                threads: synth.threads.max(1),
                active: active.max(1),
                length: (low.max(1), high.max(low).max(1)),
                lengths,
                round: 0,
                left: 0,
                now: START_NS,
            })
        };
        match synth.shape {
            Shape::Independent => Self::Free {
                now: START_NS + u64::from(random.below(SKEW_NS)),
            },
            Shape::Random => Self::Random {
                now: START_NS,
                gaps: random,
            },
            Shape::Runs { min, max } => turns(1, (min, max), random),
            Shape::FewActive(active) => turns(active, ACTIVE_TURN, random),
            Shape::Interleave => Self::Interleave {
                next: START_NS + u64::from(thread) * STEP_NS,
                step: u64::from(synth.threads.max(1)) * STEP_NS,
            },
        }
    }

    /// Returns the timestamp of the next event, roughly `gap_ns` after the previous one.
    #[inline]
    pub(crate) fn next(&mut self, gap_ns: u64) -> u64 {
        match self {
            Self::Free { now } => {
                *now += gap_ns;
                *now
            }
            Self::Random { now, gaps } => {
                let halves = gaps.next().trailing_zeros();
                *now += u64::from(halves * HALF_NS + gaps.below(HALF_NS));
                *now
            }
            Self::Turns(turns) => turns.next(gap_ns),
            Self::Interleave { next, step } => {
                let now = *next;
                *next += *step;
                now
            }
        }
    }
}

impl Turns {
    fn next(&mut self, gap_ns: u64) -> u64 {
        if self.left == 0 {
            self.begin();
        }
        self.left -= 1;
        self.now += 1 + gap_ns % TURN_GAP_NS;
        self.now
    }

    /// Advances to the slot of the next round.
    fn begin(&mut self) {
        let slot_ns = u64::from(self.length.1) * TURN_GAP_NS;
        let groups = u64::from(self.threads.div_ceil(self.active));
        let group = u64::from(self.position() / self.active);
        self.now = START_NS + (self.round * groups + group) * slot_ns;
        self.left = self.lengths.between(self.length.0, self.length.1);
        self.round += 1;
    }

    /// Returns the thread's position in this round: `factor` · thread + `offset`. Positions are
    /// distinct if `factor` and the number of threads have no common divisor.
    fn position(&self) -> u32 {
        let mut random = Random::new(self.seed, TURNS + self.round);
        let offset = u64::from(random.below(self.threads));
        let mut factor = random.between(1, self.threads);
        while greatest_common_divisor(factor, self.threads) != 1 {
            factor = random.between(1, self.threads);
        }
        let place = u64::from(factor) * u64::from(self.thread) + offset;
        (place % u64::from(self.threads)) as u32
    }
}

fn greatest_common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 {
        return a;
    }
    greatest_common_divisor(b, a % b)
}
