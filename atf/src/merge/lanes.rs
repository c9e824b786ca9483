//! Merges the events of many threads.

use super::MergedEvent;
use super::feed::{Feed, timestamp_ns};
use super::key::{Key, Packing};
use super::tree::LoserTree;
use super::turn_predictor::TurnPredictor;
use crate::error::Error;
use crate::index::{IndexEvent, Record};
use crate::sys;
use crate::wire::Wire;

/// After how many consecutive turns of one thread its next turns are foreseen.
const FORESEEN: u32 = 3;
/// The most turns foreseen at once.
const LONGEST_RUN: usize = 256;
/// How many events ahead a thread's records are prefetched. With many threads, the processor does
/// not detect that each is read sequentially.
const AHEAD: usize = 4;

/// One thread's stream of events.
#[derive(Debug)]
struct Lane<'m> {
    feed: Feed<'m>,
    /// The next event's place among the available records, and the end of the selected ones.
    at: usize,
    end: usize,
    process: u32,
    thread: u32,
    thread_id: u32,
    wire: Wire,
}

impl<'m> Lane<'m> {
    fn new(feed: Feed<'m>) -> Self {
        let thread = feed.thread();
        let header = thread.index().header();
        Self {
            at: 0,
            end: 0,
            process: thread.process(),
            thread: thread.id(),
            thread_id: header.thread_id,
            wire: header.wire,
            feed,
        }
    }

    /// Returns the available events.
    #[inline]
    fn at_hand(&self) -> &[Record] {
        let records = self.feed.records().get(self.at..self.end);
        records.unwrap_or_default()
    }

    /// Returns the next event, if it is available.
    #[inline(always)]
    fn next(&self) -> Option<MergedEvent> {
        if self.at >= self.end {
            return None;
        }
        let record = self.feed.records().get(self.at)?;
        Some(self.event(self.at, record))
    }

    #[inline(always)]
    fn event(&self, at: usize, record: &Record) -> MergedEvent {
        MergedEvent {
            process: self.process,
            thread: self.thread,
            seq: self.feed.first_seq().wrapping_add(at as u64),
            event: IndexEvent::decode(self.wire, self.thread_id, record),
        }
    }

    /// Passes the next event and returns the time of the one after it, if that is available.
    #[inline(always)]
    fn pass(&mut self) -> Option<u64> {
        self.at = self.at.wrapping_add(1);
        if self.at >= self.end {
            return None;
        }
        let records = self.feed.records();
        if let Some(ahead) = records.get(self.at.wrapping_add(AHEAD)) {
            sys::prefetch(ahead);
        }
        records.get(self.at).map(timestamp_ns)
    }

    /// Loads the next events, if there are more.
    fn refill(&mut self) -> Result<(), Error> {
        (self.at, self.end) = (0, 0);
        let places = self.feed.next()?;
        (self.at, self.end) = (places.start, places.end);
        Ok(())
    }

    /// Returns the most events that can follow.
    fn left(&self) -> u64 {
        let at_hand = self.end.saturating_sub(self.at) as u64;
        self.feed.left().saturating_add(at_hand)
    }
}

/// A thread that failed: its place among the threads, and the error.
pub(super) type Failure = (usize, Error);

/// Takes each next event from the thread whose event is least by time and thread.
#[derive(Debug)]
pub(super) struct Lanes<'m> {
    lanes: Vec<Lane<'m>>,
    /// How many of them have loaded their first events.
    begun: usize,
    tree: LoserTree,
    packing: Packing,
    /// The thread whose event is next; if none is available, the tree does not know its next event
    /// yet. No thread has this number if none has an event near the keys' base.
    rank: usize,
    /// How many further turns of this thread need no match.
    run: usize,
    /// How many turns in a row it had.
    repeats: u32,
    turns: TurnPredictor,
}

impl<'m> Lanes<'m> {
    /// Takes the threads with their events in tie-breaking order.
    pub(super) fn new(feeds: impl Iterator<Item = Feed<'m>>) -> Self {
        let lanes: Vec<_> = feeds.map(Lane::new).collect();
        Self {
            begun: 0,
            tree: LoserTree::new(&[]).0,
            packing: Packing::new(0, 0),
            rank: usize::MAX,
            run: 0,
            repeats: 0,
            turns: TurnPredictor::new(lanes.len()),
            lanes,
        }
    }

    /// Returns the most events that can follow.
    pub(super) fn left(&self) -> u64 {
        self.lanes
            .iter()
            .map(Lane::left)
            .fold(0, u64::saturating_add)
    }

    /// Takes the next event; `None` if [`load`](Self::load) must be called first.
    #[inline(always)]
    pub(super) fn take(&mut self) -> Option<MergedEvent> {
        let lane = self.lanes.get_mut(self.rank)?;
        let event = lane.next()?;
        if self.run > 0 {
            self.run = self.run.wrapping_sub(1);
            lane.at = lane.at.wrapping_add(1);
        } else {
            self.pass();
        }
        Some(event)
    }

    /// Folds over the events up to the next [`load`](Self::load), faster than repeated calls of
    /// [`take`](Self::take).
    #[inline]
    pub(super) fn fold<B>(&mut self, init: B, mut fold: impl FnMut(B, MergedEvent) -> B) -> B {
        let mut folded = init;
        while let Some(lane) = self.lanes.get_mut(self.rank) {
            let run = std::mem::take(&mut self.run);
            let places = lane.at..lane.at.saturating_add(run);
            let records = lane.feed.records().get(places.clone()).unwrap_or_default();
            for (at, record) in places.zip(records) {
                folded = fold(folded, lane.event(at, record));
            }
            lane.at = lane.at.saturating_add(run);
            if lane.at >= lane.end {
                break;
            }
            folded = match self.turns.is_regular() {
                true => self.fold_turns::<true, B>(folded, &mut fold),
                false => self.fold_turns::<false, B>(folded, &mut fold),
            };
        }
        folded
    }

    /// Folds over the next event, and those after it while no work but matches is needed.
    #[inline(always)]
    fn fold_turns<const IS_REGULAR: bool, B>(
        &mut self,
        init: B,
        fold: &mut impl FnMut(B, MergedEvent) -> B,
    ) -> B {
        let mut folded = init;
        let packing = self.packing;
        let most = self.turns.quiet();
        let (mut rank, mut repeats, mut turns) = (self.rank, self.repeats, 0);
        let mut matches = self.tree.matches();
        let lanes = self.lanes.as_mut_slice();
        while let Some(lane) = lanes.get_mut(rank) {
            let Some(event) = lane.next() else {
                break;
            };
            folded = fold(folded, event);
            if turns == most {
                (self.rank, self.repeats) = (rank, repeats);
                self.turns.pass(turns);
                self.pass();
                return folded;
            }
            let Some(time) = lane.pass() else {
                break;
            };
            let key = packing.key(time, rank);
            turns = turns.wrapping_add(1);
            let winner = packing.rank(matches.replay::<IS_REGULAR>(rank, key));
            repeats = if winner == rank {
                repeats.wrapping_add(1)
            } else {
                0
            };
            rank = winner;
            if repeats >= FORESEEN {
                break;
            }
        }
        (self.rank, self.repeats) = (rank, repeats);
        self.turns.pass(turns);
        if repeats >= FORESEEN {
            self.start_run();
        }
        folded
    }

    /// Passes the current event and determines whose turn is next.
    ///
    /// Not inlined, so that [`take`](Self::take) is: a returned event would go through memory.
    #[inline(never)]
    fn pass(&mut self) {
        if let Some(time) = self.lanes.get_mut(self.rank).and_then(Lane::pass) {
            self.play(self.packing.key(time, self.rank));
        }
    }

    /// Determines whose turn is next, after the key of the current thread's next event.
    #[inline(always)]
    fn play(&mut self, key: Key) {
        let mut matches = self.tree.matches();
        let winner = if self.turns.is_regular() {
            matches.replay::<true>(self.rank, key)
        } else {
            matches.replay::<false>(self.rank, key)
        };
        let rank = self.packing.rank(winner);
        self.turns.note(self.rank, rank);
        self.repeats = if rank == self.rank {
            self.repeats.wrapping_add(1)
        } else {
            0
        };
        self.rank = rank;
        if self.repeats >= FORESEEN {
            self.start_run();
        }
    }

    /// Foresees how many turns in a row the current thread has.
    #[cold]
    #[inline(never)]
    fn start_run(&mut self) {
        let runner_up = self.tree.matches().runner_up(self.rank);
        let last = self.packing.last_before(self.rank, runner_up);
        let Some(lane) = self.lanes.get_mut(self.rank) else {
            return;
        };
        let run = lane.at_hand().iter().take(LONGEST_RUN);
        let run = run.take_while(|record| timestamp_ns(record) <= last);
        // The last of them needs a match.
        self.run = run.count().saturating_sub(1);
    }

    /// Loads events where they have run out, and returns whether there are any.
    ///
    /// # Errors
    ///
    /// A thread that fails; it has no more events.
    #[cold]
    #[inline(never)]
    pub(super) fn load(&mut self) -> Result<bool, Failure> {
        while let Some(lane) = self.lanes.get_mut(self.begun) {
            let rank = self.begun;
            self.begun = self.begun.wrapping_add(1);
            lane.refill().map_err(|error| (rank, error))?;
        }
        loop {
            if self.rank >= self.lanes.len() {
                self.rebase();
            }
            let rank = self.rank;
            let Some(lane) = self.lanes.get_mut(rank) else {
                return Ok(false);
            };
            if !lane.at_hand().is_empty() {
                return Ok(true);
            }
            let refilled = lane.refill();
            let time = lane.at_hand().first().map(timestamp_ns);
            self.play(self.packing.key_or_end(time, rank));
            refilled.map_err(|error| (rank, error))?;
        }
    }

    /// Packs the keys of all threads anew: none has an event near the base.
    #[cold]
    fn rebase(&mut self) {
        let times = self.lanes.iter();
        let times = times.map(|lane| lane.at_hand().first().map(timestamp_ns));
        let first = times.clone().flatten().min().unwrap_or_default();
        let packing = Packing::new(self.lanes.len(), first);
        let key = |(rank, time)| packing.key_or_end(time, rank);
        let keys: Vec<_> = (0..).zip(times).map(key).collect();
        let (tree, least) = LoserTree::new(&keys);
        (self.tree, self.packing, self.rank) = (tree, packing, packing.rank(least));
    }
}
