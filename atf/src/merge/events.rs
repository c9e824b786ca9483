//! Iterates over the events of all threads.

use std::iter::FusedIterator;
use std::sync::Arc;

use super::lanes::{Failure, Lanes};
use super::{MergedEvent, Opened, Thread};
use crate::ending::Ending;
use crate::error::Result;
use crate::session::Problem;
use crate::sys;

/// The events of all threads in order; see [`Merge`](super::Merge).
///
/// An `Err` between events means that a thread could not be read further; the other threads' events
/// follow. After the last event comes one `Err` per problem that affects the returned events or
/// prevented others from being read (see [`Merge`](super::Merge#problems)).
///
/// Created by [`Merge::events`](super::Merge::events), [`into_events`](super::Merge::into_events)
/// and [`partitions`](super::Merge::partitions).
#[derive(Debug)]
pub struct Merged<'m> {
    lanes: Lanes<'m>,
    threads: Vec<Arc<Thread>>,
    /// The known problems. The first `unopened` of them were known before the first event.
    problems: Vec<Problem>,
    unopened: usize,
    ending: Ending<Problem>,
}

impl<'m> Merged<'m> {
    pub(super) fn new(opened: &Opened, lanes: Lanes<'m>) -> Self {
        Self {
            lanes,
            threads: opened.threads.clone(),
            problems: opened.problems.clone(),
            unopened: opened.problems.len(),
            ending: Ending::UNKNOWN,
        }
    }

    /// Stops this iterator from reporting problems, because another partition reports them.
    pub(super) fn without_problems(self) -> Self {
        Self {
            ending: Ending::nothing(),
            ..self
        }
    }

    /// Returns the known problems: with the session, with threads that could not be opened or read
    /// further, and, after the last event, with all threads.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Returns the folder ids of threads whose checksum was never compared with their events. A
    /// merge of all events has verified each thread by the time it returns the thread's last event.
    /// A merge of a [time range](super::Merge::time_range) does not read enough to verify threads.
    pub fn unverified(&self) -> impl Iterator<Item = u32> {
        let threads = self.threads.iter();
        threads.filter(|t| t.is_unverified()).map(|t| t.id)
    }

    /// Loads events for threads that have run out of them. Returns the next item if it is not a
    /// loaded event.
    #[cold]
    fn load(&mut self) -> Option<Option<Result<MergedEvent>>> {
        // This reads and may open files, and the calling thread may belong to a C program.
        sys::uncancelled(|| match self.lanes.load() {
            Ok(true) => None,
            Ok(false) => Some(self.problem()),
            Err(failure) => Some(Some(self.fail(failure))),
        })
    }

    fn fail(&mut self, (rank, error): Failure) -> Result<MergedEvent> {
        if let Some(thread) = self.threads.get(rank) {
            self.problems.push(thread.problem(error.clone()));
        }
        Err(error)
    }

    /// Returns the next problem, after the last event.
    #[cold]
    fn problem(&mut self) -> Option<Result<MergedEvent>> {
        let find = || {
            let known = self.problems.get(..self.unopened);
            let mut all = known.unwrap_or_default().to_vec();
            let found = self.threads.iter().flat_map(|thread| thread.problems());
            let found: Vec<_> = found.collect();
            self.problems.extend_from_slice(&found);
            all.extend(found);
            all
        };
        self.ending.next(find).map(|problem| Err(problem.error))
    }
}

impl Iterator for Merged<'_> {
    type Item = Result<MergedEvent>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(event) = self.lanes.take() {
                return Some(Ok(event));
            }
            if let Some(item) = self.load() {
                return item;
            }
        }
    }

    /// Passes on the events turn by turn, so that each turn's thread is looked up once.
    fn fold<B, F: FnMut(B, Self::Item) -> B>(mut self, init: B, mut f: F) -> B {
        let mut all = init;
        loop {
            all = self.lanes.fold(all, |all, event| f(all, Ok(event)));
            match self.load() {
                None => {}
                Some(Some(item)) => all = f(all, item),
                Some(None) => return all,
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let events = usize::try_from(self.lanes.left()).ok();
        (0, self.ending.most(events))
    }
}

impl FusedIterator for Merged<'_> {}
