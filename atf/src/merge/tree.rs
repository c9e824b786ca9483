//! Finds the least key among many ascending sources.

use std::hint::select_unpredictable;

/// A source's key: a timestamp, then the source's number, so that no two are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    timestamp_ns: u64,
    rank: usize,
}

impl Key {
    /// Greater than every other: the key of an exhausted source.
    pub(super) const END: Self = Self {
        timestamp_ns: u64::MAX,
        rank: usize::MAX,
    };

    /// The key of source `rank` at a time.
    #[inline]
    pub(super) fn new(timestamp_ns: u64, rank: usize) -> Self {
        Self { timestamp_ns, rank }
    }

    /// Returns the source; meaningless if the key is [`END`](Self::END).
    #[inline]
    pub(super) fn rank(self) -> usize {
        self.rank
    }

    /// Returns whether it comes first, computed without a branch. If the keys were compared as one
    /// `u128`, the compiler would branch to select them.
    #[inline]
    fn is_before(self, other: Self) -> bool {
        let is_tie = self.timestamp_ns == other.timestamp_ns;
        (self.timestamp_ns < other.timestamp_ns) | (is_tie & (self.rank < other.rank))
    }

    /// Returns whether it comes first, with predictable branches: equal times are rare.
    #[inline(always)]
    fn is_likely_before(self, other: Self) -> bool {
        if self.timestamp_ns == other.timestamp_ns {
            self.is_before_at_same_time(other)
        } else {
            self.timestamp_ns < other.timestamp_ns
        }
    }

    #[cold]
    #[inline(never)]
    fn is_before_at_same_time(self, other: Self) -> bool {
        self.rank < other.rank
    }

    /// Selects one of two keys without a branch.
    #[inline]
    fn select(first: bool, a: Self, b: Self) -> Self {
        Self {
            timestamp_ns: select_unpredictable(first, a.timestamp_ns, b.timestamp_ns),
            rank: select_unpredictable(first, a.rank, b.rank),
        }
    }

    /// Returns the key that comes first, then the other.
    #[inline]
    fn sort(a: Self, b: Self) -> (Self, Self) {
        let is_first = a.is_before(b);
        (Self::select(is_first, a, b), Self::select(is_first, b, a))
    }

    /// Returns the greatest time at which source `rank` still comes before this key; `None` if even
    /// time 0 comes after it.
    #[inline]
    pub(super) fn last_before(self, rank: usize) -> Option<u64> {
        if rank < self.rank {
            Some(self.timestamp_ns)
        } else {
            self.timestamp_ns.checked_sub(1)
        }
    }
}

/// A tournament among sources; each inner node keeps the loser of its match.
///
/// When the winner's key changes, only the matches on its path to the root are replayed.
#[derive(Debug)]
pub(super) struct LoserTree {
    /// The losers: node 1 is the root, node `n` has the children `2n` and `2n + 1`. The leaf of
    /// source `rank` would be node `len + rank`. Node 0 has the overall winner.
    nodes: Vec<Key>,
}

impl LoserTree {
    /// Plays all matches; `keys` are the sources' keys by rank.
    pub(super) fn new(keys: &[Key]) -> Self {
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
        if let (Some(node), Some(winner)) = (nodes.first_mut(), winners.first()) {
            *node = *winner;
        }
        Self { nodes }
    }

    /// Returns the least key.
    #[inline]
    pub(super) fn winner(&self) -> Key {
        self.nodes.first().copied().unwrap_or(Key::END)
    }

    /// Returns the second least key.
    #[inline]
    pub(super) fn runner_up(&self) -> Key {
        let mut least = Key::END;
        let mut place = self.parent(self.winner().rank());
        while let Some(loser) = self.nodes.get(place).filter(|_| place > 0) {
            (least, _) = Key::sort(least, *loser);
            place >>= 1;
        }
        least
    }

    /// Gives the winner its next key and returns the new winner.
    #[inline]
    pub(super) fn replay(&mut self, rank: usize, key: Key, is_regular: bool) -> Key {
        let mut matches = self.matches();
        if is_regular {
            matches.replay::<true>(rank, key)
        } else {
            matches.replay::<false>(rank, key)
        }
    }

    /// Returns the matches alone, for loops that play many of them.
    #[inline]
    pub(super) fn matches(&mut self) -> Matches<'_> {
        Matches(&mut self.nodes)
    }

    #[inline]
    fn parent(&self, rank: usize) -> usize {
        self.nodes.len().wrapping_add(rank) >> 1
    }
}

/// The matches of a [`LoserTree`].
#[derive(Debug)]
pub(super) struct Matches<'t>(&'t mut [Key]);

impl Matches<'_> {
    /// Gives the winner its next key and returns the new winner.
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
            } else if loser.is_likely_before(winner) {
                std::mem::swap(loser, &mut winner);
            }
            place >>= 1;
        }
        if let Some(node) = self.0.first_mut() {
            *node = winner;
        }
        winner
    }
}
