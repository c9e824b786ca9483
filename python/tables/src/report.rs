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
use crate::rows::{Cell, Rows};
use crate::stream::{Outcome, Source};

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
        if let Some(thread) = problem.thread {
            outcome.add_of_thread(thread, problem.error);
        }
    }
    let functions = found.functions.into_iter();
    let functions = functions.map(|function| (Some(function.function_id), function));
    let others = found.others.map(|others| (None, others));
    Ok(functions.chain(others).collect())
}

pub(crate) struct Report {
    reader: SessionReader,
    options: Options,
    /// Functions that were not returned yet; `None` before the analysis.
    left: Option<Functions>,
}

impl Report {
    pub(crate) fn new(reader: SessionReader, options: Options) -> Self {
        Self {
            reader,
            options,
            left: None,
        }
    }
}

impl Source for Report {
    fn fill(&mut self, rows: &mut Rows, outcome: &mut Outcome) -> Result<bool, Error> {
        let left = match &mut self.left {
            Some(left) => left,
            None => {
                let left = analyse(&self.reader, &self.options, outcome)?;
                self.left.insert(left)
            }
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
    }
}

pub(crate) struct Histogram {
    reader: SessionReader,
    names: Arc<Names>,
    options: Options,
    /// Functions whose buckets were not returned yet; `None` before the analysis.
    left: Option<Functions>,
    /// Buckets of one function that were not returned yet.
    buckets: VecDeque<(Option<u64>, Bucket)>,
}

impl Histogram {
    /// Rejects a name that the manifest does not list. Accepts any id, because only the analysis
    /// shows whether the function with that id has calls.
    pub(crate) fn new(
        reader: SessionReader,
        names: Arc<Names>,
        options: Options,
    ) -> Result<Self, Error> {
        match &options.function {
            None | Some(Pattern::Id(_)) => {}
            Some(pattern) if names.contains(pattern) => {}
            Some(pattern) => return Err(no_match(pattern)),
        }
        Ok(Self {
            reader,
            names,
            options,
            left: None,
            buckets: VecDeque::new(),
        })
    }

    fn analyse(&self, outcome: &mut Outcome) -> Result<Functions, Error> {
        let mut functions = analyse(&self.reader, &self.options, outcome)?;
        if let Some(pattern) = &self.options.function {
            let fits = |id: u64| {
                let name = self.names.name(self.names.key(id));
                pattern.fits(&Function::new(id, name))
            };
            functions.retain(|(id, _)| id.is_some_and(fits));
            if functions.is_empty() && !self.names.contains(pattern) {
                return Err(no_match(pattern));
            }
        }
        Ok(functions)
    }
}

fn no_match(pattern: &Pattern) -> Error {
    Error::usage(format!("no function matches {pattern}"))
}

impl Source for Histogram {
    fn fill(&mut self, rows: &mut Rows, outcome: &mut Outcome) -> Result<bool, Error> {
        if self.left.is_none() {
            self.left = Some(self.analyse(outcome)?);
        }
        while !rows.is_full() {
            if let Some((id, bucket)) = self.buckets.pop_front() {
                rows.push(&[
                    id.into(),
                    id.map_or(Cell::Null, Cell::Name),
                    bucket.from_ns.into(),
                    bucket.to_ns.into(),
                    bucket.count.into(),
                ])?;
            } else if let Some((id, function)) = self.left.as_mut().and_then(VecDeque::pop_front) {
                let buckets = function.durations.buckets();
                self.buckets.extend(buckets.map(|bucket| (id, bucket)));
            } else {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
