//! Finds the order in which threads take turns.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::key::{Key, Packing};
use super::lane::Lane;
use super::tree::{Cycle, LoserTree};

/// The maximum number of turns to find at once, so that their events are still in the cache when
/// they are returned.
const MOST: usize = 512;
/// The number of consecutive turns of one thread after which its next turns are predicted.
const FORESEEN: u32 = 3;
/// The maximum number of turns to predict at once.
const LONGEST_RUN: usize = 256;
/// How often the base may move because all threads' next events are too far from it. Each move
/// examines all threads, and hostile times could require one for each event.
const MOST_MOVES: u32 = 16;

/// Some consecutive events of one thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Turn {
    /// The thread's rank among the threads.
    pub(super) rank: usize,
    pub(super) count: usize,
}

/// The next turns, in order.
#[derive(Debug)]
pub(super) struct Turns {
    found: Box<[Turn; MOST]>,
    /// The index of the next turn to take.
    next: usize,
    /// The number of turns found.
    end: usize,
    order: Order,
    packing: Packing,
    /// The thread whose event is next. If its loaded events have run out, its next event is not yet
    /// in `order`. A number that belongs to no thread means that the order must be determined
    /// again.
    rank: usize,
    /// How many turns this thread has had in a row.
    repeats: u32,
    /// How often the keys were repacked because all times were too far from the base.
    pub(super) moves: u32,
}

/// The method of finding the next turn.
#[derive(Debug)]
enum Order {
    Tree(LoserTree),
    Cycle(Cycle),
    /// The times and ranks of all threads but the current one. This is slower, but needs no base.
    Heap(BinaryHeap<Reverse<(u64, usize)>>),
}

impl Turns {
    pub(super) fn new() -> Self {
        Self {
            found: Box::new([Turn::default(); MOST]),
            next: 0,
            end: 0,
            order: Order::Tree(LoserTree::new(&[], Vec::new()).0),
            packing: Packing::new(0, 0),
            rank: usize::MAX,
            repeats: 0,
            moves: 0,
        }
    }

    /// Returns the next turn already found.
    #[inline(always)]
    pub(super) fn next(&mut self) -> Option<Turn> {
        if self.next >= self.end {
            return None;
        }
        let turn = self.found.get(self.next).copied();
        self.next = self.next.wrapping_add(1);
        turn
    }

    /// Returns all turns already found.
    pub(super) fn rest(&mut self) -> &[Turn] {
        let next = std::mem::replace(&mut self.next, self.end);
        self.found.get(next..self.end).unwrap_or_default()
    }

    /// Returns the thread whose event is next; after the last event, a number that belongs to no
    /// thread.
    pub(super) fn rank(&mut self, lanes: &[Lane<'_>]) -> usize {
        if self.rank >= lanes.len() {
            self.rebase(lanes);
        }
        self.rank
    }

    /// Determines which thread is next, once the current thread's event has been passed.
    pub(super) fn replay(&mut self, lanes: &[Lane<'_>]) {
        let (rank, packing) = (self.rank, self.packing);
        let time = |after| lanes.get(rank).and_then(|lane| lane.time(after));
        let key = packing.key_or_end(time(0), rank);
        let least = match &mut self.order {
            Order::Tree(tree) => {
                tree.set_following(rank, key);
                let following = packing.key_or_end(time(1), rank);
                Some(tree.replay(tree.levels(), rank, following))
            }
            Order::Cycle(cycle) => cycle.replay(key),
            Order::Heap(heap) => {
                heap.extend(time(0).map(|time| Reverse((time, rank))));
                self.rank = earliest(heap);
                return;
            }
        };
        match least {
            Some(least) => self.rank = packing.rank(least),
            None => self.rebase(lanes),
        }
        if self.rank != rank {
            self.repeats = 0;
        }
    }

    /// Repacks the keys of all threads, after a cycle ends or if no thread has an event near the
    /// base.
    #[cold]
    fn rebase(&mut self, lanes: &[Lane<'_>]) {
        let heads = lanes.iter().map(|lane| lane.time(0));
        if !matches!(self.order, Order::Cycle(_)) {
            self.moves = self.moves.saturating_add(1);
        }
        if self.moves > MOST_MOVES {
            let heads = heads.enumerate();
            let heads = heads.filter_map(|(rank, time)| Some(Reverse((time?, rank))));
            let mut heap = heads.collect();
            self.rank = earliest(&mut heap);
            self.order = Order::Heap(heap);
            return;
        }
        let first = heads.clone().flatten().min().unwrap_or_default();
        self.packing = Packing::new(lanes.len(), first);
        let keys: Vec<_> = self.keys(lanes, 0).collect();
        let (tree, least) = LoserTree::new(&keys, self.keys(lanes, 1).collect());
        (self.order, self.rank) = (Order::Tree(tree), self.packing.rank(least));
    }

    /// Returns the keys of the threads' next events.
    fn keys(&self, lanes: &[Lane<'_>], after: usize) -> impl Iterator<Item = Key> {
        let packing = self.packing;
        let key =
            move |(rank, lane): (usize, &Lane<'_>)| packing.key_or_end(lane.time(after), rank);
        lanes.iter().enumerate().map(key)
    }

    /// Finds the next turns until any thread has passed its last available event. The current
    /// thread must have an available event.
    pub(super) fn find(&mut self, lanes: &mut [Lane<'_>]) {
        self.next = 0;
        self.end = match &self.order {
            Order::Cycle(_) => self.find_by_cycle(lanes),
            Order::Heap(_) => self.find_by_heap(lanes),
            Order::Tree(_) if self.repeats >= FORESEEN => self.find_run(lanes),
            Order::Tree(tree) => match tree.levels() {
                1 => self.find_by_tree::<1>(lanes),
                2 => self.find_by_tree::<2>(lanes),
                3 => self.find_by_tree::<3>(lanes),
                4 => self.find_by_tree::<4>(lanes),
                5 => self.find_by_tree::<5>(lanes),
                6 => self.find_by_tree::<6>(lanes),
                7 => self.find_by_tree::<7>(lanes),
                8 => self.find_by_tree::<8>(lanes),
                _ => self.find_by_tree::<0>(lanes),
            },
        };
        if let Some(cycle) = self.cycle(lanes) {
            self.order = Order::Cycle(cycle);
        }
    }

    /// Finds one long turn of the current thread. Like the other methods, returns the number of
    /// turns found.
    fn find_run(&mut self, lanes: &mut [Lane<'_>]) -> usize {
        let (rank, packing) = (self.rank, self.packing);
        let (Order::Tree(tree), Some(lane), Some(turn)) =
            (&self.order, lanes.get_mut(rank), self.found.first_mut())
        else {
            return 0;
        };
        let last = packing.last_before(rank, tree.runner_up(rank));
        let count = lane.pass_run(last, LONGEST_RUN);
        *turn = Turn { rank, count };
        if lane.is_waiting() {
            self.replay(lanes);
        }
        1
    }

    /// Finds turns in a tree with this many levels; 0 means any number.
    #[inline(never)]
    fn find_by_tree<const LEVELS: u32>(&mut self, lanes: &mut [Lane<'_>]) -> usize {
        let Order::Tree(tree) = &mut self.order else {
            return 0;
        };
        let levels = if LEVELS == 0 { tree.levels() } else { LEVELS };
        let packing = self.packing;
        let (mut rank, mut repeats) = (self.rank, self.repeats);
        let mut turns = 0_usize;
        for turn in self.found.iter_mut() {
            let Some(lane) = lanes.get_mut(rank).filter(|_| repeats < FORESEEN) else {
                break;
            };
            lane.pass();
            *turn = Turn { rank, count: 1 };
            turns = turns.wrapping_add(1);
            let following = match lane.time(1) {
                Some(time) => packing.key(time, rank),
                None if lane.is_waiting() => Key::END,
                None => break,
            };
            let winner = packing.rank(tree.replay(levels, rank, following));
            repeats = if winner == rank {
                repeats.wrapping_add(1)
            } else {
                0
            };
            rank = winner;
        }
        (self.rank, self.repeats) = (rank, repeats);
        turns
    }

    /// Finds turns while the cycle continues.
    // Not inlined, because the caller leaves it too few registers.
    #[inline(never)]
    fn find_by_cycle(&mut self, lanes: &mut [Lane<'_>]) -> usize {
        let Order::Cycle(cycle) = &mut self.order else {
            return 0;
        };
        let packing = self.packing;
        let mut rank = self.rank;
        let mut turns = 0_usize;
        for turn in self.found.iter_mut() {
            let Some(lane) = lanes.get_mut(rank) else {
                break;
            };
            lane.pass();
            *turn = Turn { rank, count: 1 };
            turns = turns.wrapping_add(1);
            let Some(time) = lane.time(0) else {
                break;
            };
            let least = cycle.replay(packing.key(time, rank));
            rank = least.map_or(usize::MAX, |least| packing.rank(least));
        }
        self.rank = rank;
        turns
    }

    /// Finds turns without keys.
    fn find_by_heap(&mut self, lanes: &mut [Lane<'_>]) -> usize {
        let Order::Heap(heap) = &mut self.order else {
            return 0;
        };
        let mut turns = 0_usize;
        for turn in self.found.iter_mut() {
            let rank = self.rank;
            let Some(lane) = lanes.get_mut(rank) else {
                break;
            };
            lane.pass();
            *turn = Turn { rank, count: 1 };
            turns = turns.wrapping_add(1);
            let Some(time) = lane.time(0) else {
                break;
            };
            heap.push(Reverse((time, rank)));
            self.rank = earliest(heap);
        }
        turns
    }

    /// Returns the cycle repeated by the turns that the tree found last.
    fn cycle(&self, lanes: &[Lane<'_>]) -> Option<Cycle> {
        let Order::Tree(_) = self.order else {
            return None;
        };
        let (last, before) = self.found.get(..self.end)?.split_last()?;
        let start = before.iter().rposition(|turn| turn == last)?;
        let (before, cycle) = self.found.split_at(start.checked_add(1)?);
        if self.end < MOST || !before.ends_with(cycle) {
            return None;
        }
        let key = |turn: &Turn| {
            let head = lanes.get(turn.rank).and_then(|lane| lane.time(0));
            self.packing.key_or_end(head, turn.rank)
        };
        Cycle::new(cycle.iter().map(key).collect(), self.keys(lanes, 0))
    }
}

/// Removes and returns the thread with the earliest time. From an empty heap, returns a number that
/// no thread has.
fn earliest(heap: &mut BinaryHeap<Reverse<(u64, usize)>>) -> usize {
    heap.pop().map_or(usize::MAX, |Reverse((_, rank))| rank)
}
