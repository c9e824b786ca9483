//! Iterating over the events of all threads.

use std::iter::FusedIterator;

use super::feed::{Buffered, InMemory, Part};
use super::lanes::{Failure, Lanes};
use super::{MergedEvent, Opened};
use crate::error::Result;
use crate::session::ThreadProblem;

/// The events of all threads in one order; see [`Merge`](super::Merge).
///
/// An `Err` says that a thread could not be read further; the events of the others follow.
/// [`for_each`](Iterator::for_each), [`fold`](Iterator::fold) and what is built on them are
/// faster than a `for` loop.
///
/// Made by [`Merge::events`](super::Merge::events),
/// [`into_events`](super::Merge::into_events) and [`partitions`](super::Merge::partitions).
#[derive(Debug)]
pub struct Merged<'m> {
    lanes: Option<AnyLanes<'m>>,
    /// The ids of the threads by their place.
    ids: Vec<u32>,
    problems: Vec<ThreadProblem>,
    /// Failures that were met before the first event.
    failed: std::vec::IntoIter<Failure>,
    /// Events that are left at most.
    left: u64,
}

#[derive(Debug)]
enum AnyLanes<'m> {
    InMemory(Lanes<InMemory<'m>>),
    Buffered(Lanes<Buffered>),
}

impl<'m> Merged<'m> {
    pub(super) fn new(opened: &Opened, parts: &[Part]) -> Self {
        let counts = parts
            .iter()
            .map(|part| part.seqs.end.saturating_sub(part.seqs.start));
        Self {
            lanes: None,
            ids: opened.threads.iter().map(|thread| thread.id()).collect(),
            problems: opened.problems.clone(),
            failed: Vec::new().into_iter(),
            left: counts.fold(0, u64::saturating_add),
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

    /// The threads that could not be opened, and those that failed until now.
    #[must_use]
    pub fn problems(&self) -> &[ThreadProblem] {
        &self.problems
    }

    #[cold]
    fn fail(&mut self, (rank, error): Failure) -> Result<MergedEvent> {
        let thread = self.ids.get(rank).copied().unwrap_or_default();
        self.problems.push(ThreadProblem {
            thread,
            error: error.clone(),
        });
        Err(error)
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
        match next? {
            Ok(event) => {
                self.left = self.left.saturating_sub(1);
                Some(Ok(event))
            }
            Err(failure) => Some(self.fail(failure)),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        // An error ends a thread early.
        (0, usize::try_from(self.left).ok())
    }

    fn fold<B, F: FnMut(B, Self::Item) -> B>(self, init: B, mut fold: F) -> B {
        let failed = self.failed.map(|(_, error)| Err(error));
        let folded = failed.fold(init, &mut fold);
        let item =
            |folded, item: Result<_, Failure>| fold(folded, item.map_err(|(_, error)| error));
        match self.lanes {
            Some(AnyLanes::InMemory(lanes)) => lanes.fold(folded, item),
            Some(AnyLanes::Buffered(lanes)) => lanes.fold(folded, item),
            None => folded,
        }
    }
}

impl FusedIterator for Merged<'_> {}
