//! Finds the least key among many sources with ascending keys: by a tournament or, while the
//! sources take turns in a fixed order, by one check.

use super::key::Key;

/// A tournament among sources, in which each inner node keeps the loser of its match.
///
/// When the winner's key changes, only the matches on its path to the root are replayed.
#[derive(Debug)]
pub(super) struct LoserTree {
    /// The losers: node 1 is the root, node `n` has the children `2n` and `2n + 1`. The leaf of
    /// source `rank` would be node `len + rank`. Node 0 is not used.
    nodes: Vec<Key>,
    /// The key after each source's current one, ready for when the source wins.
    following: Vec<Key>,
}

impl LoserTree {
    /// Plays all matches and returns the least key. `keys` are the sources' keys by rank, and
    /// `following` are the keys after them.
    pub(super) fn new(keys: &[Key], mut following: Vec<Key>) -> (Self, Key) {
        let size = keys.len().next_power_of_two().max(2);
        let mut nodes = vec![Key::END; size];
        let mut winners = keys.to_vec();
        winners.resize(size, Key::END);
        let mut first = size;
        while winners.len() > 1 {
            first /= 2;
            let matches = winners.chunks_exact(2).map(|pair| match pair {
                [a, b] => Key::sort(*a, *b),
                _ => (Key::END, Key::END),
            });
            let matches: Vec<_> = matches.collect();
            let level = nodes.iter_mut().skip(first);
            level
                .zip(&matches)
                .for_each(|(node, (_, loser))| *node = *loser);
            winners = matches.into_iter().map(|(winner, _)| winner).collect();
        }
        let winner = winners.first().copied().unwrap_or(Key::END);
        following.resize(size, Key::END);
        (Self { nodes, following }, winner)
    }

    /// Returns the least key of the other sources. Source `rank` must have the least key of all.
    pub(super) fn runner_up(&self, rank: usize) -> Key {
        let mut least = Key::END;
        let mut place = self.nodes.len().wrapping_add(rank) >> 1;
        while let Some(loser) = self.nodes.get(place).filter(|_| place > 0) {
            least = least.min(*loser);
            place >>= 1;
        }
        least
    }

    /// Sets the key that follows a source's current one.
    pub(super) fn set_following(&mut self, rank: usize, key: Key) {
        if let Some(following) = self.following.get_mut(rank) {
            *following = key;
        }
    }

    /// Returns the number of levels of matches.
    pub(super) fn levels(&self) -> u32 {
        self.nodes.len().ilog2()
    }

    /// Advances the source with the least key to its next key, sets `following` as the key after
    /// that, and returns the new least key. The code has no branches, because turns in random order
    /// cannot be predicted.
    ///
    /// `levels` must be the [tree's](Self::levels); a constant lets the compiler unroll the loop.
    #[inline(always)]
    pub(super) fn replay(&mut self, levels: u32, rank: usize, following: Key) -> Key {
        let size = 1_usize.wrapping_shl(levels);
        let (Some(next), Some(nodes)) = (self.following.get_mut(rank), self.nodes.get_mut(..size))
        else {
            return Key::END;
        };
        let mut winner = std::mem::replace(next, following);
        let mut place = size | rank;
        for _ in 0..levels {
            place >>= 1;
            if let Some(loser) = nodes.get_mut(place & size.wrapping_sub(1)) {
                (winner, *loser) = Key::sort(winner, *loser);
            }
        }
        winner
    }
}

/// Threads that take turns in a fixed order: each has had two turns, the second ones in the same
/// order as the first.
///
/// While that order holds, each turn needs one check instead of a tournament. It holds as long as
/// the event after each thread's next event comes after the next events of all threads in the
/// cycle, and before those of all other threads.
#[derive(Debug)]
pub(super) struct Cycle {
    /// The keys of the threads' next events, ascending from `first` and wrapping around at the end.
    keys: Vec<Key>,
    first: usize,
    greatest: Key,
    /// The least key of the threads outside the cycle.
    limit: Key,
}

impl Cycle {
    /// Creates a cycle from the keys of its threads in order, and the keys of all threads. Returns
    /// `None` if the cycle's keys do not ascend or are not the least keys.
    pub(super) fn new(keys: Vec<Key>, all: impl Iterator<Item = Key>) -> Option<Self> {
        let greatest = *keys.last()?;
        let (mut count, mut limit) = (0_usize, Key::END);
        for key in all {
            if key > greatest {
                limit = limit.min(key);
            } else {
                count = count.saturating_add(1);
            }
        }
        let are_least = count == keys.len() && greatest < limit;
        (are_least && keys.is_sorted_by(|a, b| a < b)).then_some(Self {
            keys,
            first: 0,
            greatest,
            limit,
        })
    }

    /// Sets the next key of the thread that has the least key, and returns the new least key;
    /// `None` if the order changes.
    #[inline(always)]
    pub(super) fn replay(&mut self, key: Key) -> Option<Key> {
        if key <= self.greatest || key >= self.limit {
            return None;
        }
        *self.keys.get_mut(self.first)? = key;
        self.greatest = key;
        self.first = self.first.wrapping_add(1);
        if self.first >= self.keys.len() {
            self.first = 0;
        }
        self.keys.get(self.first).copied()
    }
}
