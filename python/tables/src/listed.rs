//! The tables `functions`, `threads`, `modules` and `problems`.

use std::collections::{BTreeSet, HashMap, VecDeque};

use atf::Error as AtfError;
use atf::detail::DetailReader;
use atf::index::IndexReader;
use atf::manifest::ManifestThread;
use atf::session::{SessionReader, ThreadEntry};

use crate::error::{Error, Problem};
use crate::options::Options;
use crate::stream::{Cell, Outcome, Rows, Source};
use crate::thread::{Queue, ThreadEvents};

pub(crate) fn functions(reader: SessionReader) -> Source {
    let mut next: usize = 0;
    Box::new(move |rows: &mut Rows, _: &mut Outcome| {
        let symbols = reader.manifest().map(|manifest| &manifest.symbols);
        let names = reader.symbols();
        for symbol in symbols.into_iter().flatten().skip(next) {
            if rows.is_full() {
                return Ok(true);
            }
            next = next.saturating_add(1);
            let id = symbol.function_id;
            let module = names.function(id).module;
            rows.push(&[
                id.into(),
                Cell::Name(id),
                (id >> 32).into(),
                (id & u64::from(u32::MAX)).into(),
                module.and_then(|module| module.path.as_deref()).into(),
            ])?;
        }
        Ok(false)
    })
}

pub(crate) fn modules(reader: SessionReader) -> Source {
    let mut next: usize = 0;
    Box::new(move |rows: &mut Rows, _: &mut Outcome| {
        let modules = reader.manifest().map(|manifest| &manifest.modules);
        for module in modules.into_iter().flatten().skip(next) {
            if rows.is_full() {
                return Ok(true);
            }
            next = next.saturating_add(1);
            rows.push(&[
                module.module_id.into(),
                module.path.as_deref().into(),
                module.base_address.into(),
                module.size.into(),
                module.uuid.as_deref().into(),
                module.function_offsets.into(),
            ])?;
        }
        Ok(false)
    })
}

pub(crate) fn threads(mut queue: Queue) -> Source {
    // The position of each thread in the manifest's list.
    let listed = queue.reader().manifest().map(|manifest| &manifest.threads);
    let listed = listed.into_iter().flatten().zip(0..);
    let places: HashMap<u32, usize> = listed.map(|(thread, place)| (thread.id, place)).collect();
    Box::new(move |rows: &mut Rows, outcome: &mut Outcome| {
        while !rows.is_full() {
            let Some(entry) = queue.next() else {
                return Ok(false);
            };
            let place = places.get(&entry.id()).copied();
            let manifest = queue.reader().manifest();
            let listed = place.zip(manifest);
            let listed = listed.and_then(|(place, manifest)| manifest.threads.get(place));
            push(&entry, listed, queue.options(), rows, outcome)?;
        }
        Ok(true)
    })
}

fn push(
    entry: &ThreadEntry,
    listed: Option<&ManifestThread>,
    options: &Options,
    rows: &mut Rows,
    outcome: &mut Outcome,
) -> Result<(), Error> {
    let mut problem = |error: AtfError| outcome.add(Some(entry.id()), error);
    let thread = entry.open().map_err(&mut problem).ok();
    let index = thread.as_ref().map(atf::thread::ThreadReader::index);
    let times = match index.map(IndexReader::time_range) {
        Some(Ok(times)) => times,
        Some(Err(error)) => {
            problem(error);
            None
        }
        None => None,
    };
    if let Some(thread) = &thread {
        thread.index().problems().into_iter().for_each(&mut problem);
        thread.detail_error().cloned().into_iter().for_each(problem);
    }
    let header = index.map(IndexReader::header);
    let lost_events = listed.and_then(|it| it.lost_events);
    let lost_details = listed.and_then(|it| it.lost_details);
    let details = |detail: Option<&DetailReader>| detail.map_or(0, DetailReader::event_count);
    rows.push(&[
        entry.id().into(),
        listed.and_then(|it| it.name.as_deref()).into(),
        entry.is_listed().into(),
        state(index).into(),
        header.map(|it| u32::from(it.wire.version())).into(),
        header.and_then(|it| it.arch.name()).into(),
        header.and_then(|it| it.os.name()).into(),
        header.and_then(|it| it.clock_type.name()).into(),
        index.map(IndexReader::event_count).into(),
        thread.as_ref().map(|it| details(it.detail())).into(),
        times.map(|(start_ns, _)| options.time(start_ns)).into(),
        times.map(|(_, end_ns)| options.time(end_ns)).into(),
        lost_events.map(|it| it.count).into(),
        lost_details.map(|it| it.count).into(),
    ])
}

fn state(index: Option<&IndexReader>) -> &'static str {
    index.map_or("unreadable", |index| index.completeness().name())
}

/// Returns the session's own problems and those of its threads.
pub(crate) fn problems(mut queue: Queue, of_session: Vec<Problem>) -> Source {
    // Problems that were found but not returned yet.
    let mut left = VecDeque::from(of_session);
    Box::new(move |rows: &mut Rows, _: &mut Outcome| {
        while !rows.is_full() {
            if let Some(problem) = left.pop_front() {
                push_problem(&problem, rows)?;
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
            found.add(Some(entry.id()), error);
        }
    }
    found.problems
}

fn push_problem(problem: &Problem, rows: &mut Rows) -> Result<(), Error> {
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
