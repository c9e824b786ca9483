//! Merges the events of many threads.

use std::{iter, mem};

use super::MergedEvent;
use super::lane::Lane;
use super::turns::{Turn, Turns};
use crate::error::Error;

/// A thread that failed: its rank among the threads, and the error.
pub(super) type Failure = (usize, Error);

/// The lanes of all threads, from which the earliest event is taken repeatedly. Ties are broken by
/// thread.
///
/// Finding a turn must wait for the result of the previous one, but returning events need not.
/// Therefore, many turns are found before any of their events are returned.
#[derive(Debug)]
pub(super) struct Lanes<'m> {
    lanes: Vec<Lane<'m>>,
    /// How many lanes have loaded their first events.
    begun: usize,
    turns: Turns,
    turn: Turn,
}

impl<'m> Lanes<'m> {
    /// Merges the lanes of threads in tie-breaking order.
    pub(super) fn new(lanes: impl Iterator<Item = Lane<'m>>) -> Self {
        Self {
            lanes: lanes.collect(),
            begun: 0,
            turns: Turns::new(),
            turn: Turn::default(),
        }
    }

    /// Returns the maximum number of events that can still come.
    pub(super) fn left(&self) -> u64 {
        self.lanes
            .iter()
            .map(Lane::left)
            .fold(0, u64::saturating_add)
    }

    /// Takes the next event; returns `None` if [`load`](Self::load) must be called first.
    #[inline(always)]
    pub(super) fn take(&mut self) -> Option<MergedEvent> {
        if self.turn.count == 0 {
            self.turn = self.turns.next()?;
        }
        self.turn.count = self.turn.count.wrapping_sub(1);
        self.lanes.get_mut(self.turn.rank)?.take()
    }

    /// Passes on the events of all turns found so far. [`load`](Self::load) must be called next.
    #[inline(always)]
    pub(super) fn fold<B>(&mut self, init: B, mut f: impl FnMut(B, MergedEvent) -> B) -> B {
        let current = mem::take(&mut self.turn);
        let turns = iter::once(&current).chain(self.turns.rest());
        turns.fold(init, |all, turn| match self.lanes.get_mut(turn.rank) {
            Some(lane) => lane.fold(turn.count, all, &mut f),
            None => all,
        })
    }

    /// Loads events for lanes that have none left, finds the next turns, and returns whether there
    /// are any. All earlier turns must have been taken. After a failure, the thread that failed has
    /// no more events.
    #[cold]
    #[inline(never)]
    pub(super) fn load(&mut self) -> Result<bool, Failure> {
        while let Some(lane) = self.lanes.get_mut(self.begun) {
            let rank = self.begun;
            self.begun = self.begun.wrapping_add(1);
            lane.refill().map_err(|error| (rank, error))?;
        }
        loop {
            let rank = self.turns.rank(&self.lanes);
            let Some(lane) = self.lanes.get_mut(rank) else {
                // After the last event, each call returns one problem, and must not search all
                // threads again.
                self.lanes.clear();
                return Ok(false);
            };
            if lane.is_waiting() {
                self.turns.find(&mut self.lanes);
                return Ok(true);
            }
            let refilled = lane.refill();
            self.turns.replay(&self.lanes);
            refilled.map_err(|error| (rank, error))?;
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::sync::Arc;

    use atf_samples::files::{EventRecord, IndexFile};

    use super::*;
    use crate::index::IndexReader;
    use crate::merge::Thread;
    use crate::merge::lane::Part;

    /// Only times that are 2⁵⁶ apart need more than one base here.
    #[test]
    fn times_far_apart_do_not_cause_a_search_of_all_threads_per_event() {
        let index = |id: u64| {
            let event = EventRecord {
                timestamp_ns: id << 56,
                function_id: id,
                kind: 1,
                depth: 1,
                detail_seq: None,
            };
            IndexReader::from_bytes(IndexFile::new(1, vec![event]).bytes()).unwrap()
        };
        let lane = |id: u64| {
            let thread = Thread {
                number: 0,
                session: 0,
                id: 0,
                index: Arc::new(index(id)),
                folder: None,
            };
            let part = Part {
                seqs: 0..1,
                times: None,
            };
            Lane::buffered(&Arc::new(thread), 200, part, 4096)
        };
        let mut lanes = Lanes::new((0..200).map(lane));
        let mut found = Vec::new();
        loop {
            found.extend(lanes.take().map(|event| event.event.function_id));
            if lanes.turn.count == 0 && !lanes.load().unwrap() {
                break;
            }
        }
        assert_eq!(found, (0..200).collect::<Vec<_>>());
        assert!(lanes.turns.moves < 20, "{}", lanes.turns.moves);
    }
}
