//! Merges the events of many threads.

use super::feed::{Feed, timestamp_ns};
use super::tree::{Key, LoserTree};
use super::turn_predictor::TurnPredictor;
use super::{MergedEvent, Thread};
use crate::error::Error;
use crate::index::{IndexEvent, Record};
use crate::sys;
use crate::wire::Wire;

/// After how many consecutive turns of one thread its next turns are predicted.
const FORESEEN: u32 = 3;
/// How many events ahead a thread's records are prefetched. With many threads, the processor does
/// not detect that each is read sequentially.
const AHEAD: usize = 4;

/// One thread's stream of events.
#[derive(Debug)]
struct Lane<F> {
    feed: F,
    /// The next event's place among the available records, and the end of the selected ones.
    at: usize,
    end: usize,
    process: u32,
    thread: u32,
    thread_id: u32,
    wire: Wire,
}

impl<F: Feed> Lane<F> {
    #[inline]
    fn peek(&self) -> Option<&Record> {
        if self.at < self.end {
            self.feed.records().get(self.at)
        } else {
            None
        }
    }

    /// Takes the event that [`peek`](Self::peek) returns.
    #[inline(always)]
    fn take(&mut self) -> Option<MergedEvent> {
        let event = self.event(self.at, self.peek()?);
        if let Some(ahead) = self.feed.records().get(self.at.wrapping_add(AHEAD)) {
            sys::prefetch(ahead);
        }
        self.at = self.at.wrapping_add(1);
        Some(event)
    }

    /// Takes available events up to the first that is later than `last`.
    #[inline]
    fn fold_to<B>(&mut self, last: u64, init: B, mut fold: impl FnMut(B, MergedEvent) -> B) -> B {
        let mut folded = init;
        let mut at = self.at;
        let at_hand = self.feed.records().get(at..self.end).unwrap_or_default();
        for record in at_hand {
            if timestamp_ns(record) > last {
                break;
            }
            folded = fold(folded, self.event(at, record));
            at = at.wrapping_add(1);
        }
        self.at = at;
        folded
    }

    #[inline(always)]
    fn event(&self, place: usize, record: &Record) -> MergedEvent {
        MergedEvent {
            process: self.process,
            thread: self.thread,
            seq: self.feed.first_seq().wrapping_add(place as u64),
            event: IndexEvent::decode(self.wire, self.thread_id, record),
        }
    }

    /// Loads the next events, if there are more.
    fn refill(&mut self) -> Result<(), Error> {
        (self.at, self.end) = (0, 0);
        let places = self.feed.next()?;
        (self.at, self.end) = (places.start, places.end);
        Ok(())
    }
}

/// A thread that failed: its place among the threads, and the error.
pub(super) type Failure = (usize, Error);

/// Takes each next event from the thread whose event is least by time and thread.
#[derive(Debug)]
pub(super) struct Lanes<F> {
    lanes: Vec<Lane<F>>,
    tree: LoserTree,
    /// The thread that had the last turn; the tree does not know its next event yet.
    rank: usize,
    /// Whether that thread may continue without a match while its events are not later than
    /// `run_last`.
    in_run: bool,
    run_last: u64,
    repeats: u32,
    turns: TurnPredictor,
}

impl<F: Feed> Lanes<F> {
    /// Takes the threads with their events in tie-breaking order.
    pub(super) fn new<'t>(
        threads: impl Iterator<Item = (&'t Thread, F)>,
        mut failed: impl FnMut(Failure),
    ) -> Self {
        let lane = |(thread, feed): (&Thread, F)| Lane {
            feed,
            at: 0,
            end: 0,
            process: thread.process(),
            thread: thread.id(),
            thread_id: thread.index().header().thread_id,
            wire: thread.index().wire(),
        };
        let mut lanes: Vec<_> = threads.map(lane).collect();
        let head = |(rank, lane): (usize, &mut Lane<F>)| {
            if let Err(error) = lane.refill() {
                failed((rank, error));
            }
            head(lane, rank)
        };
        let keys: Vec<_> = lanes.iter_mut().enumerate().map(head).collect();
        let mut this = Self {
            tree: LoserTree::new(&keys),
            turns: TurnPredictor::new(lanes.len()),
            lanes,
            rank: 0,
            in_run: false,
            run_last: 0,
            repeats: 0,
        };
        this.begin(this.tree.winner());
        this
    }

    /// Returns the next event. A thread that fails is reported once and has no more events.
    #[inline]
    pub(super) fn next(&mut self) -> Option<Result<MergedEvent, Failure>> {
        if self.in_run {
            if let Some(event) = self.take_in_run() {
                return Some(Ok(event));
            }
            self.in_run = false;
        }
        match self.turn() {
            Some(failure) => Some(Err(failure)),
            None => self.lanes.get_mut(self.rank)?.take().map(Ok),
        }
    }

    /// Folds over all events, faster than repeated calls of `next`.
    pub(super) fn fold<B>(
        mut self,
        init: B,
        mut fold: impl FnMut(B, Result<MergedEvent, Failure>) -> B,
    ) -> B {
        let mut folded = init;
        loop {
            if self.in_run {
                self.in_run = false;
                if let Some(lane) = self.lanes.get_mut(self.rank) {
                    folded = lane.fold_to(self.run_last, folded, |folded, event| {
                        fold(folded, Ok(event))
                    });
                }
            }
            if let Some(failure) = self.turn() {
                folded = fold(folded, Err(failure));
                continue;
            }
            if self.in_run {
                continue;
            }
            if self.rank >= self.lanes.len() {
                return folded;
            }
            let mut event = |folded, event| fold(folded, Ok(event));
            folded = match self.turns.is_regular() {
                true => self.take_turns::<true, B>(folded, &mut event),
                false => self.take_turns::<false, B>(folded, &mut event),
            };
        }
    }

    /// Takes the next event, and those after it while no work but matches is needed.
    #[inline(always)]
    fn take_turns<const IS_REGULAR: bool, B>(
        &mut self,
        init: B,
        mut fold: impl FnMut(B, MergedEvent) -> B,
    ) -> B {
        let mut folded = init;
        let mut matches = self.tree.matches();
        let lanes = self.lanes.as_mut_slice();
        let (mut rank, mut repeats, mut turns) = (self.rank, self.repeats, 0);
        let most = self.turns.quiet();
        while let Some(lane) = lanes.get_mut(rank) {
            let at_hand = lane.feed.records().get(lane.at..lane.end);
            let Some([record, rest @ ..]) = at_hand else {
                break;
            };
            if let Some(ahead) = rest.get(AHEAD) {
                sys::prefetch(ahead);
            }
            folded = fold(folded, lane.event(lane.at, record));
            let next = rest.first().map(timestamp_ns);
            lane.at = lane.at.wrapping_add(1);
            let (Some(next), true) = (next, turns < most) else {
                break;
            };
            turns = turns.wrapping_add(1);
            let winner = matches.replay::<IS_REGULAR>(rank, Key::new(next, rank));
            repeats = if winner.rank() == rank {
                repeats.wrapping_add(1)
            } else {
                0
            };
            rank = winner.rank();
            if repeats >= FORESEEN {
                break;
            }
        }
        (self.rank, self.repeats) = (rank, repeats);
        self.turns.pass(turns);
        if repeats >= FORESEEN {
            self.repeats = 0;
            self.start_run();
        }
        folded
    }

    /// Takes the next event of the current run, until another thread's event comes first.
    #[inline]
    fn take_in_run(&mut self) -> Option<MergedEvent> {
        let lane = self.lanes.get_mut(self.rank)?;
        if timestamp_ns(lane.peek()?) <= self.run_last {
            lane.take()
        } else {
            None
        }
    }

    /// Determines whose turn is next; a failure comes before that turn's event.
    #[inline(always)]
    fn turn(&mut self) -> Option<Failure> {
        let lane = self.lanes.get(self.rank)?;
        let Some(record) = lane.peek() else {
            return self.refill();
        };
        let key = Key::new(timestamp_ns(record), self.rank);
        self.play(key);
        None
    }

    #[inline(always)]
    fn play(&mut self, key: Key) {
        let winner = self.tree.replay(self.rank, key, self.turns.is_regular());
        let rank = winner.rank();
        self.turns.note(self.rank, rank);
        self.repeats = if rank == self.rank {
            self.repeats.wrapping_add(1)
        } else {
            0
        };
        self.rank = rank;
        if self.repeats >= FORESEEN {
            self.repeats = 0;
            self.start_run();
        }
    }

    /// Starts a run: the current thread continues until another's event comes first.
    #[cold]
    #[inline(never)]
    fn start_run(&mut self) {
        match self.tree.runner_up().last_before(self.rank) {
            Some(last) => (self.in_run, self.run_last) = (true, last),
            None => self.begin(self.tree.winner()),
        }
    }

    #[cold]
    #[inline(never)]
    fn refill(&mut self) -> Option<Failure> {
        let lane = self.lanes.get_mut(self.rank)?;
        let failure = lane.refill().err().map(|error| (self.rank, error));
        let key = head(lane, self.rank);
        self.play(key);
        if failure.is_some() {
            self.begin(self.tree.winner());
        }
        failure
    }

    /// Makes the winner's event the next one, without a match.
    fn begin(&mut self, winner: Key) {
        self.rank = winner.rank();
        let head = self.lanes.get(self.rank).and_then(Lane::peek);
        self.in_run = head.is_some();
        self.run_last = head.map_or(0, timestamp_ns);
    }
}

/// Returns the key of a thread's next event.
fn head<F: Feed>(lane: &Lane<F>, rank: usize) -> Key {
    lane.peek()
        .map_or(Key::END, |record| Key::new(timestamp_ns(record), rank))
}
