//! Finds the least key among many ascending sources.

use super::key::Key;

/// A tournament among sources; each inner node keeps the loser of its match.
///
/// When the winner's key changes, only the matches on its path to the root are replayed.
#[derive(Debug)]
pub(super) struct LoserTree {
    /// The losers: node 1 is the root, node `n` has the children `2n` and `2n + 1`. The leaf of
    /// source `rank` would be node `len + rank`. Node 0 is not used.
    nodes: Vec<Key>,
}

impl LoserTree {
    /// Plays all matches and returns the least key; `keys` are the sources' keys by rank.
    pub(super) fn new(keys: &[Key]) -> (Self, Key) {
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
        (Self { nodes }, winner)
    }

    /// Returns the matches alone, for loops that play many of them.
    #[inline]
    pub(super) fn matches(&mut self) -> Matches<'_> {
        Matches(&mut self.nodes)
    }
}

/// The matches of a [`LoserTree`].
#[derive(Debug)]
pub(super) struct Matches<'t>(&'t mut [Key]);

impl Matches<'_> {
    /// Returns the least key of the others, if source `rank` has the least.
    #[inline]
    pub(super) fn runner_up(&self, rank: usize) -> Key {
        let mut least = Key::END;
        let mut place = self.0.len().wrapping_add(rank) >> 1;
        while let Some(loser) = self.0.get(place).filter(|_| place > 0) {
            least = least.min(*loser);
            place >>= 1;
        }
        least
    }

    /// Gives the source with the least key its next key and returns the new least key.
    ///
    /// If sources take turns regularly, matches use branches: the processor predicts each one and
    /// need not wait for the previous one. If they take turns at random, each outcome is selected
    /// without a branch.
    #[inline(always)]
    pub(super) fn replay<const IS_REGULAR: bool>(&mut self, rank: usize, key: Key) -> Key {
        let mut winner = key;
        let mut place = self.0.len().wrapping_add(rank) >> 1;
        while place > 0 {
            let Some(loser) = self.0.get_mut(place) else {
                break;
            };
            if !IS_REGULAR {
                (winner, *loser) = Key::sort(winner, *loser);
            } else if *loser < winner {
                std::mem::swap(loser, &mut winner);
            }
            place >>= 1;
        }
        winner
    }
}
