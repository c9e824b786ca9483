//! The table `problems`.

use std::collections::{BTreeSet, VecDeque};

use atf::session::ThreadEntry;

use crate::error::{Error, Problem};
use crate::queue::Queue;
use crate::rows::Rows;
use crate::stream::{Outcome, Source};
use crate::thread::ThreadEvents;

/// Returns the session's own problems and those of its threads.
pub(crate) fn problems(mut queue: Queue, of_session: Vec<Problem>) -> Source {
    // Problems that were found but not returned yet.
    let mut left = VecDeque::from(of_session);
    Box::new(move |rows: &mut Rows, _: &mut Outcome| {
        while !rows.is_full() {
            if let Some(problem) = left.pop_front() {
                push(&problem, rows)?;
                continue;
            }
            let Some(entry) = queue.next() else {
                return Ok(false);
            };
            left = of_thread(&entry).into();
        }
        Ok(true)
    })
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
