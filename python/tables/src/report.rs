//! The table `report`.

use std::collections::VecDeque;
use std::sync::Arc;

use atf::analyze::{self, FunctionTimes};
use atf::session::SessionReader;

use crate::error::Error;
use crate::options::Options;
use crate::rows::{Cell, Rows};
use crate::stream::{Outcome, Source};

pub(crate) struct Report {
    reader: Arc<SessionReader>,
    options: analyze::Options,
    /// Rows that were not returned yet, with the ids of their functions; `None` before the
    /// analysis.
    left: Option<VecDeque<(Option<u64>, FunctionTimes)>>,
}

impl Report {
    pub(crate) fn new(reader: Arc<SessionReader>, options: &Options) -> Self {
        let threads = options.threads.clone().unwrap_or_default();
        let analysis = analyze::Options::default()
            .threads(threads)
            .from_ns(options.from_ns)
            .to_ns(options.to_ns)
            .clock(options.clock.clone());
        // An empty set would select all threads for the analysis, but here it selects none.
        let selects_none = options
            .threads
            .as_ref()
            .is_some_and(std::collections::BTreeSet::is_empty);
        Self {
            reader,
            options: analysis,
            left: selects_none.then(VecDeque::new),
        }
    }

    /// Analyses all events.
    fn analyse(
        &self,
        outcome: &mut Outcome,
    ) -> Result<VecDeque<(Option<u64>, FunctionTimes)>, Error> {
        let found = analyze::functions(&*self.reader, &self.options)?;
        for problem in found.problems {
            // The stream begins with the session's own problems.
            if let Some(thread) = problem.thread {
                outcome.add_of_thread(thread, problem.error);
            }
        }
        let functions = found.functions.into_iter();
        let functions = functions.map(|function| (Some(function.function_id), function));
        Ok(functions
            .chain(found.others.map(|others| (None, others)))
            .collect())
    }
}

impl Source for Report {
    fn fill(&mut self, rows: &mut Rows, outcome: &mut Outcome) -> Result<bool, Error> {
        let left = match &mut self.left {
            Some(left) => left,
            None => {
                let left = self.analyse(outcome)?;
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
