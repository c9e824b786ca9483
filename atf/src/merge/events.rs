//! Iterates over the events of all threads.

use std::iter::FusedIterator;
use std::sync::Arc;

use super::feed::{Buffered, InMemory, Part};
use super::lanes::{Failure, Lanes};
use super::{MergedEvent, Opened, Thread};
use crate::ending::Ending;
use crate::error::Result;
use crate::session::Problem;

/// The events of all threads in order; see [`Merge`](super::Merge).
///
/// An `Err` between events means that a thread could not be read further; the other threads' events
/// follow. After the last event comes an `Err` for each problem of the returned events, and for
/// each one that prevented reading others: see [`Merge`](super::Merge#problems).
///
/// [`for_each`](Iterator::for_each), [`fold`](Iterator::fold) and methods built on them are faster
/// than a `for` loop.
///
/// Made by [`Merge::events`](super::Merge::events),
/// [`into_events`](super::Merge::into_events) and [`partitions`](super::Merge::partitions).
#[derive(Debug)]
pub struct Merged<'m> {
    lanes: Option<AnyLanes<'m>>,
    threads: Vec<Arc<Thread>>,
    /// The known problems; the first `unopened` of them were known before the first event.
    problems: Vec<Problem>,
    unopened: usize,
    /// Failures before the first event.
    failed: std::vec::IntoIter<Failure>,
    /// The threads that could not be read to the end.
    broken: Vec<usize>,
    /// The most events that can follow.
    left: u64,
    verdict: Verdict,
    ending: Ending<Problem>,
}

/// Which problems of the threads are reported after the last event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// All of them: all events were read, so they are verified.
    Verified,
    /// The known ones: only some events were read.
    Known,
    /// None: another partition reports them.
    Elsewhere,
}

#[derive(Debug)]
enum AnyLanes<'m> {
    InMemory(Lanes<InMemory<'m>>),
    Buffered(Lanes<Buffered>),
}

impl<'m> Merged<'m> {
    pub(super) fn new(opened: &Opened, parts: &[Part], verdict: Verdict) -> Self {
        let counts = parts
            .iter()
            .map(|part| part.seqs.end.saturating_sub(part.seqs.start));
        Self {
            lanes: None,
            threads: opened.threads.clone(),
            problems: opened.problems.clone(),
            unopened: opened.problems.len(),
            failed: Vec::new().into_iter(),
            broken: Vec::new(),
            left: counts.fold(0, u64::saturating_add),
            verdict,
            ending: match verdict {
                Verdict::Verified | Verdict::Known => Ending::Unknown,
                Verdict::Elsewhere => Ending::nothing(),
            },
        }
    }

    pub(super) fn begin_in_memory(
        &mut self,
        lanes: impl FnOnce(&mut dyn FnMut(Failure)) -> Lanes<InMemory<'m>>,
    ) {
        self.lanes = Some(AnyLanes::InMemory(self.begin(lanes)));
    }

    pub(super) fn begin_buffered(
        &mut self,
        lanes: impl FnOnce(&mut dyn FnMut(Failure)) -> Lanes<Buffered>,
    ) {
        self.lanes = Some(AnyLanes::Buffered(self.begin(lanes)));
    }

    fn begin<L>(&mut self, lanes: impl FnOnce(&mut dyn FnMut(Failure)) -> L) -> L {
        let mut failed = Vec::new();
        let lanes = lanes(&mut |failure| failed.push(failure));
        self.failed = failed.into_iter();
        lanes
    }

    /// Returns the known problems: those of the session, of threads that could not be opened or
    /// read further, and after the last event of all threads.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Returns the threads with a checksum that was never compared with their events, by their
    /// folders' ids. A merge of all events verifies each thread by its last event; a merge of a
    /// [time range](super::Merge::time_range) does not read enough to do so.
    pub fn unverified(&self) -> impl Iterator<Item = u32> {
        let threads = self.threads.iter();
        threads.filter(|t| t.is_unverified()).map(|t| t.id())
    }

    #[cold]
    fn fail(&mut self, (rank, error): Failure) -> Result<MergedEvent> {
        if let Some(thread) = self.threads.get(rank) {
            self.problems.push(thread.problem(error.clone()));
        }
        self.broken.push(rank);
        Err(error)
    }

    /// Returns the next problem, after the last event.
    #[cold]
    fn problem(&mut self) -> Option<Result<MergedEvent>> {
        let Self {
            threads,
            problems,
            unopened,
            broken,
            verdict,
            ending,
            ..
        } = self;
        let tell = || {
            let mut all = problems.get(..*unopened).unwrap_or_default().to_vec();
            for (rank, thread) in threads.iter().enumerate() {
                let is_read = *verdict == Verdict::Verified && !broken.contains(&rank);
                // Events in memory are merged without reading all of their bytes.
                let unread = if is_read {
                    thread.index().scan().err()
                } else {
                    None
                };
                let unread = unread.map(|error| thread.problem(error));
                let found: Vec<_> = thread.problems().into_iter().chain(unread).collect();
                problems.extend_from_slice(&found);
                all.extend(found);
            }
            all
        };
        ending.next(tell).map(|problem| Err(problem.error))
    }
}

impl Iterator for Merged<'_> {
    type Item = Result<MergedEvent>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if let Some(failure) = self.failed.next() {
            return Some(self.fail(failure));
        }
        let next = match self.lanes.as_mut()? {
            AnyLanes::InMemory(lanes) => lanes.next(),
            AnyLanes::Buffered(lanes) => lanes.next(),
        };
        match next {
            Some(Ok(event)) => {
                self.left = self.left.saturating_sub(1);
                Some(Ok(event))
            }
            Some(Err(failure)) => Some(self.fail(failure)),
            None => self.problem(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        // An error ends a thread early; problems follow the last event.
        let most = usize::try_from(self.left).ok().zip(self.ending.count());
        (
            0,
            most.and_then(|(events, problems)| events.checked_add(problems)),
        )
    }

    fn fold<B, F: FnMut(B, Self::Item) -> B>(mut self, init: B, mut fold: F) -> B {
        let lanes = self.lanes.take();
        let mut folded = init;
        while let Some(failure) = self.failed.next() {
            folded = fold(folded, self.fail(failure));
        }
        let item = |folded, item: Result<_, Failure>| {
            fold(folded, item.or_else(|failure| self.fail(failure)))
        };
        folded = match lanes {
            Some(AnyLanes::InMemory(lanes)) => lanes.fold(folded, item),
            Some(AnyLanes::Buffered(lanes)) => lanes.fold(folded, item),
            None => folded,
        };
        while let Some(problem) = self.problem() {
            folded = fold(folded, problem);
        }
        folded
    }
}

impl FusedIterator for Merged<'_> {}
