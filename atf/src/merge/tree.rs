//! Finds the least key among many sources with ascending keys.

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
