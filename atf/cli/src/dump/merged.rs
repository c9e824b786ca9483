//! The threads of a trace, and their events in one order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;

use atf::detail::DetailReader;
use atf::index::{Events, IndexEvent, IndexReader};
use atf::session::SessionReader;
use atf::thread::ThreadReader;
use atf::{Error, Wire};

use super::filter::Filter;
use crate::output::{Failure, complain};

/// The threads of a trace that could be opened, and why others could not.
#[derive(Debug)]
pub(crate) struct Threads {
    opened: Vec<Opened>,
    problems: Vec<Error>,
}

#[derive(Debug)]
struct Opened {
    id: u32,
    files: Files,
}

#[derive(Debug)]
enum Files {
    Index(Box<IndexReader>),
    Both(Box<ThreadReader>),
}

impl Opened {
    fn index(&self) -> &IndexReader {
        match &self.files {
            Files::Index(index) => index,
            Files::Both(thread) => thread.index(),
        }
    }
}

impl Threads {
    /// An index file by itself.
    pub(crate) fn of_file(path: &Path) -> Result<Self, Failure> {
        let mut this = Self::none();
        match IndexReader::open(path) {
            Ok(index) => this.opened.push(Opened {
                id: index.header().thread_id,
                files: Files::Index(Box::new(index)),
            }),
            Err(error) => this.problems.push(error),
        }
        Ok(this)
    }

    /// A thread's folder.
    pub(crate) fn of_folder(path: &Path) -> Result<Self, Failure> {
        let mut this = Self::none();
        let thread = ThreadReader::open(path);
        let id = |thread: &ThreadReader| thread.index().header().thread_id;
        this.add(thread.as_ref().map_or(0, id), thread);
        Ok(this)
    }

    /// All threads of a session.
    pub(crate) fn of_session(session: &SessionReader) -> Self {
        let mut this = Self::none();
        for entry in session.threads() {
            this.add(entry.id(), entry.open());
        }
        this
    }

    fn none() -> Self {
        Self {
            opened: Vec::new(),
            problems: Vec::new(),
        }
    }

    fn add(&mut self, id: u32, thread: Result<ThreadReader, Error>) {
        match thread {
            Ok(thread) => self.opened.push(Opened {
                id,
                files: Files::Both(Box::new(thread)),
            }),
            Err(error) => self.problems.push(error),
        }
    }

    /// The least first timestamp.
    pub(crate) fn start_ns(&self) -> Option<u64> {
        let ranges = self.opened.iter().map(|opened| opened.index().time_range());
        ranges.flatten().flatten().map(|(start, _)| start).min()
    }

    /// The detail file of a thread.
    pub(crate) fn detail(&self, position: usize) -> Option<&DetailReader> {
        match &self.opened.get(position)?.files {
            Files::Index(_) => None,
            Files::Both(thread) => thread.detail(),
        }
    }

    /// Says which threads could not be opened, and whether there are any.
    pub(crate) fn report(&self) -> bool {
        self.problems.iter().for_each(complain);
        !self.problems.is_empty()
    }
}

/// An event and where it comes from.
#[derive(Debug)]
pub(crate) struct Event {
    /// The thread's place among those that were opened.
    pub(crate) position: usize,
    /// The thread's id.
    pub(crate) thread: u32,
    /// The event's position in its file.
    pub(crate) seq: u64,
    /// The wire version of its file.
    pub(crate) wire: Wire,
    /// The event.
    pub(crate) event: IndexEvent,
}

/// Events by (timestamp, thread, seq).
pub(crate) struct Merged<'a> {
    threads: &'a Threads,
    events: Vec<Events<'a>>,
    heap: BinaryHeap<Reverse<(u64, usize, u64)>>,
    heads: Vec<Option<IndexEvent>>,
    failed: Vec<Error>,
}

impl<'a> Merged<'a> {
    pub(crate) fn new(threads: &'a Threads, filter: &Filter<'_>) -> Self {
        let mut this = Self {
            threads,
            events: threads.opened.iter().map(|t| t.index().events()).collect(),
            heap: BinaryHeap::new(),
            heads: vec![None; threads.opened.len()],
            failed: Vec::new(),
        };
        for (position, opened) in threads.opened.iter().enumerate() {
            if filter.admits_thread(opened.id) {
                this.pull(position, 0);
            }
        }
        this
    }

    fn pull(&mut self, position: usize, seq: u64) {
        match self.events[position].next() {
            Some(Ok(event)) => {
                self.heads[position] = Some(event);
                self.heap.push(Reverse((event.timestamp_ns, position, seq)));
            }
            Some(Err(error)) => self.failed.push(error),
            None => {}
        }
    }
}

impl Iterator for Merged<'_> {
    type Item = Result<Event, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(error) = self.failed.pop() {
            return Some(Err(error));
        }
        let Reverse((_, position, seq)) = self.heap.pop()?;
        let event = self.heads[position].take()?;
        self.pull(position, seq + 1);
        let opened = &self.threads.opened[position];
        Some(Ok(Event {
            position,
            thread: opened.id,
            seq,
            wire: opened.index().wire(),
            event,
        }))
    }
}
