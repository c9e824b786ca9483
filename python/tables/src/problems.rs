//! The table `problems`.

use std::collections::{BTreeSet, VecDeque};

use atf::session::{SessionReader, ThreadEntry};

use crate::error::{Error, Problem};
use crate::options::Options;
use crate::queue::Queue;
use crate::rows::Rows;
use crate::stream::{Outcome, Source};
use crate::thread::ThreadEvents;

pub(crate) struct Problems {
    queue: Queue,
    /// Problems that were found but not returned yet.
    left: VecDeque<Problem>,
}

impl Problems {
    /// Creates the table's rows from a session and its own problems.
    pub(crate) fn new(
        reader: SessionReader,
        problems: impl Iterator<Item = atf::Error>,
        options: Options,
    ) -> Self {
        let mut found = Outcome::default();
        problems.for_each(|error| found.add_of_session(error));
        Self {
            queue: Queue::new(reader, options),
            left: found.problems.into(),
        }
    }
}

impl Source for Problems {
    fn fill(&mut self, rows: &mut Rows, _: &mut Outcome) -> Result<bool, Error> {
        while !rows.is_full() {
            if let Some(problem) = self.left.pop_front() {
                push(&problem, rows)?;
                continue;
            }
            let Some(entry) = self.queue.next() else {
                return Ok(false);
            };
            self.left = of_thread(&entry).into();
        }
        Ok(true)
    }
}

/// Reads all events and details of a thread and returns its problems.
fn of_thread(entry: &ThreadEntry) -> Vec<Problem> {
    let mut found = Outcome::default();
    let mut events = ThreadEvents::open_all(entry, None);
    while events.next(&mut found).is_some() {}
    // The events alone do not show whether finalized details are damaged.
    let opened = entry.open().and_then(|thread| thread.problems());
    let problems = opened.unwrap_or_else(|error| vec![error]);
    let texts = found.problems.iter().map(|it| it.error.to_string());
    let texts: BTreeSet<String> = texts.collect();
    for error in problems {
        if !texts.contains(&error.to_string()) {
            found.add_of_thread(entry.id(), error);
        }
    }
    found.problems
}

fn push(problem: &Problem, rows: &mut Rows) -> Result<(), Error> {
    let error = &problem.error;
    let path = error.path().map(|path| path.to_string_lossy());
    rows.push(&[
        problem.thread.into(),
        path.as_deref().into(),
        error.field().into(),
        error.offset().into(),
        problem.kind().as_str().into(),
        error.to_string().as_str().into(),
    ])
}
