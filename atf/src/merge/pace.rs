//! Whether threads take turns regularly.

/// At least so many turns are looked at.
const LEAST: u32 = 64;
/// How many times as many turns pass before the next look.
const PAUSE: u32 = 15;

/// Looks now and then at some turns: where each thread is followed by the one that followed it
/// before, the processor foretells the matches, and branches are faster than selects.
#[derive(Debug)]
pub(super) struct Pace {
    is_regular: bool,
    is_looking: bool,
    /// Turns until it begins or ends to look.
    left: u32,
    /// Turns of one look.
    size: u32,
    misses: u32,
    /// Who followed each thread the last time.
    followers: Vec<usize>,
}

impl Pace {
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

    /// Turns that it need not learn of, one after the other.
    #[inline]
    pub(super) fn quiet(&self) -> u32 {
        match self.is_looking {
            true => 0,
            false => self.left.saturating_sub(1),
        }
    }

    /// Passes over some of the [`quiet`](Self::quiet) turns.
    #[inline]
    pub(super) fn pass(&mut self, turns: u32) {
        self.left = self.left.saturating_sub(turns);
    }

    /// Learns of a turn of thread `next` behind one of `last`.
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
