//! Detects whether threads take turns regularly.

/// The least number of turns in a sample.
const LEAST: u32 = 64;
/// How many times as many turns pass before the next sample.
const PAUSE: u32 = 15;

/// Samples the turns now and then. If each thread is followed by the same thread as before, the
/// processor predicts the matches, and branches are faster than selects.
#[derive(Debug)]
pub(super) struct TurnPredictor {
    is_regular: bool,
    is_looking: bool,
    /// Turns until the current sample or pause ends.
    left: u32,
    /// Turns in a sample.
    size: u32,
    misses: u32,
    /// The thread that followed each thread the last time.
    followers: Vec<usize>,
}

impl TurnPredictor {
    pub(super) fn new(threads: usize) -> Self {
        let size = u32::try_from(threads).unwrap_or(u32::MAX);
        let size = size.saturating_mul(4).max(LEAST);
        Self {
            is_regular: false,
            is_looking: true,
            left: size,
            size,
            misses: 0,
            followers: vec![usize::MAX; threads],
        }
    }

    #[inline]
    pub(super) fn is_regular(&self) -> bool {
        self.is_regular
    }

    /// Returns how many of the next turns need not be recorded.
    #[inline]
    pub(super) fn quiet(&self) -> u32 {
        if self.is_looking {
            0
        } else {
            self.left.saturating_sub(1)
        }
    }

    /// Skips some of the [`quiet`](Self::quiet) turns.
    #[inline]
    pub(super) fn pass(&mut self, turns: u32) {
        self.left = self.left.saturating_sub(turns);
    }

    /// Records a turn of thread `next` after one of `last`.
    #[inline]
    pub(super) fn note(&mut self, last: usize, next: usize) {
        self.left = self.left.wrapping_sub(1);
        if self.is_looking {
            self.look(last, next);
        }
        if self.left == 0 {
            self.decide();
        }
    }

    fn look(&mut self, last: usize, next: usize) {
        let Some(follower) = self.followers.get_mut(last) else {
            return;
        };
        // The first half fills the table.
        let counts = self.left < self.size / 2;
        self.misses = self
            .misses
            .wrapping_add(u32::from(counts && *follower != next));
        *follower = next;
    }

    #[cold]
    #[inline(never)]
    fn decide(&mut self) {
        if self.is_looking {
            self.is_regular = self.misses < self.size / 32;
            self.misses = 0;
            self.left = self.size.saturating_mul(PAUSE);
        } else {
            self.left = self.size;
        }
        self.is_looking = !self.is_looking;
    }
}
