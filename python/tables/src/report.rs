//! The tables `report` and `histogram`.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use atf::session::SessionReader;
use atf::symbols::Function;
use atf::trace::Process;
use atf_analyze::{Bucket, FunctionTimes, Pattern};

use crate::error::Error;
use crate::names::Names;
use crate::options::Options;
use crate::stream::{Cell, Outcome, Rows, Source};

/// The functions with their ids, in the order of the tables. The entry without an id is the sum of
/// the functions that the analysis did not distinguish.
type Functions = VecDeque<(Option<u64>, FunctionTimes)>;

/// Analyses all events that the options select.
fn analyse(
    reader: &SessionReader,
    options: &Options,
    outcome: &mut Outcome,
) -> Result<Functions, Error> {
    // For the analysis, an empty set selects all threads, but here it selects none.
    if options.threads.as_ref().is_some_and(BTreeSet::is_empty) {
        return Ok(Functions::new());
    }
    let analysis = atf_analyze::Options {
        threads: options.threads.clone().unwrap_or_default(),
        from_ns: options.from_ns,
        to_ns: options.to_ns,
        ..atf_analyze::Options::default()
    };
    let process = Process::from(reader).with_clock(options.clock.clone());
    let found = atf_analyze::functions(process, &analysis);
    for problem in found.problems {
        // The outcome already contains the session's own problems.
        if problem.thread.is_some() {
            outcome.add(problem.thread, problem.error);
        }
    }
    let functions = found.functions.into_iter();
    let functions = functions.map(|function| (Some(function.function_id), function));
    let others = found.others.map(|others| (None, others));
    Ok(functions.chain(others).collect())
}

pub(crate) fn report(reader: SessionReader, options: Options) -> Source {
    // Functions that were not returned yet; `None` before the analysis.
    let mut left: Option<Functions> = None;
    Box::new(move |rows: &mut Rows, outcome: &mut Outcome| {
        let left = match &mut left {
            Some(left) => left,
            none => none.insert(analyse(&reader, &options, outcome)?),
        };
        while !rows.is_full() {
            let Some((id, function)) = left.pop_front() else {
                return Ok(false);
            };
            let durations = &function.durations;
            rows.push(&[
                id.into(),
                id.map_or(Cell::Null, Cell::Name),
                function.times.calls.into(),
                function.times.open.into(),
                function.times.at_least.into(),
                function.times.self_ns.into(),
                function.times.total_ns.into(),
                durations.min_ns().into(),
                durations.quantile_ns(500).into(),
                durations.quantile_ns(990).into(),
                durations.max_ns().into(),
                function.unmatched.into(),
            ])?;
        }
        Ok(true)
    })
}

/// Rejects a name that the manifest does not list. Accepts any id, because only the analysis shows
/// whether the function with that id has calls.
pub(crate) fn histogram(
    reader: SessionReader,
    names: Arc<Names>,
    options: Options,
) -> Result<Source, Error> {
    match &options.function {
        None | Some(Pattern::Id(_)) => {}
        Some(pattern) if names.contains(pattern) => {}
        Some(pattern) => return Err(no_match(pattern)),
    }
    // Functions whose buckets were not returned yet; `None` before the analysis.
    let mut left: Option<Functions> = None;
    // Buckets of one function that were not returned yet.
    let mut buckets: VecDeque<(Option<u64>, Bucket)> = VecDeque::new();
    Ok(Box::new(move |rows: &mut Rows, outcome: &mut Outcome| {
        let left = match &mut left {
            Some(left) => left,
            none => none.insert(selected(&reader, &names, &options, outcome)?),
        };
        while !rows.is_full() {
            if let Some((id, bucket)) = buckets.pop_front() {
                rows.push(&[
                    id.into(),
                    id.map_or(Cell::Null, Cell::Name),
                    bucket.from_ns.into(),
                    bucket.to_ns.into(),
                    bucket.count.into(),
                ])?;
            } else if let Some((id, function)) = left.pop_front() {
                let found = function.durations.buckets();
                buckets.extend(found.map(|bucket| (id, bucket)));
            } else {
                return Ok(false);
            }
        }
        Ok(true)
    }))
}

/// Analyses all events, and keeps the functions that the options select.
fn selected(
    reader: &SessionReader,
    names: &Names,
    options: &Options,
    outcome: &mut Outcome,
) -> Result<Functions, Error> {
    let mut functions = analyse(reader, options, outcome)?;
    if let Some(pattern) = &options.function {
        let fits = |id: u64| pattern.fits(&Function::new(id, names.name(names.key(id))));
        functions.retain(|(id, _)| id.is_some_and(fits));
        if functions.is_empty() && !names.contains(pattern) {
            return Err(no_match(pattern));
        }
    }
    Ok(functions)
}

fn no_match(pattern: &Pattern) -> Error {
    Error::usage(format!("no function matches {pattern}"))
}
