//! Adds up times per pair of caller and callee.

use std::cmp::Reverse;
use std::sync::{Mutex, PoisonError};

use atf::spans::Unmatched;
use atf::trace::Process;

use crate::merging::{Merged, Merging};
use crate::table::{Place, Times};
use crate::walk::{Began, Ended, Observer};
use crate::{Options, Problem, ThreadTotals, Totals, jobs, on_any_cores, run};

/// The pairs of caller and callee in a trace, from [`pairs`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Pairs {
    /// The pairs, sorted by descending total time, then by ids.
    pub pairs: Vec<Pair>,
    /// The sums over pairs beyond [`max_nodes`](Options::max_nodes); `None` if every pair has its
    /// own entry.
    pub others: Option<Times>,
    /// The threads that were read, by id.
    pub threads: Vec<ThreadTotals>,
    /// How the events differ from what the tracer wrote, and which threads were not read.
    pub problems: Vec<Problem>,
}

/// The calls from one function to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pair {
    /// The calling function; `None` for outermost calls.
    pub caller: Option<u64>,
    /// The called function.
    pub callee: u64,
    /// The calls and their times.
    pub times: Times,
}

impl Pairs {
    /// Returns the pairs with this callee.
    pub fn callers(&self, function_id: u64) -> impl Iterator<Item = &Pair> {
        let pairs = self.pairs.iter();
        pairs.filter(move |pair| pair.callee == function_id)
    }

    /// Returns the pairs with this caller.
    pub fn callees(&self, function_id: u64) -> impl Iterator<Item = &Pair> {
        let pairs = self.pairs.iter();
        pairs.filter(move |pair| pair.caller == Some(function_id))
    }

    /// Returns the totals over all threads.
    #[must_use]
    pub fn totals(&self) -> Totals {
        Totals::sum(&self.threads)
    }
}

/// Returns each pair of caller and callee with its calls and times.
///
/// Memory: about 100 bytes per pair of the result (at most [`max_nodes`](Options::max_nodes)
/// pairs), plus the same amount as [`functions`](crate::functions()) for the threads being read.
#[must_use]
pub fn pairs(process: impl Into<Process>, options: &Options) -> Pairs {
    let process = process.into();
    on_any_cores(options, |options| read(&process, options))
}

/// Adds up the pairs. Also returns whether some have no entry because of the limit.
fn read(process: &Process, options: &Options) -> (Pairs, bool) {
    let all = Mutex::new(Merged::<Key, ()>::new(options.max_nodes, 0));
    let jobs = jobs(options.jobs);
    let new = || ByPair(Merging::new(&all, jobs));
    let (threads, problems) = run(process, options, new);
    let all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    let is_full = all.table.is_full;
    let (rows, (others, ())) = all.table.into_rows();
    let pair = |((caller, callee), times, ())| Pair {
        caller,
        callee,
        times,
    };
    let pairs = rows.map(pair).filter(|pair| !pair.times.is_empty());
    let mut pairs: Vec<_> = pairs.collect();
    pairs.sort_unstable_by_key(|it| (Reverse(it.times.total_ns), it.caller, it.callee));
    let pairs = Pairs {
        pairs,
        others: Some(others).filter(|others| !others.is_empty()),
        threads,
        problems,
    };
    (pairs, is_full)
}

type Key = (Option<u64>, u64);

struct ByPair<'a>(Merging<'a, Key, ()>);

impl Observer for ByPair<'_> {
    /// The position of the pair's row, and the callee's id.
    type Place = (Place, u64);

    fn call(&mut self, caller: Option<Self::Place>, call: &Began<'_>) -> Self::Place {
        let function_id = call.event.function_id;
        let place = self.0.table.place((caller.map(|(_, id)| id), function_id));
        self.0.table.begin(place, call.now_ns);
        (place, function_id)
    }

    fn spend(&mut self, (place, _): Self::Place, ns: u64) {
        self.0.table.spend(place, ns);
    }

    fn end(&mut self, (place, _): Self::Place, ended: &Ended) {
        self.0.table.end(place, ended);
    }

    fn unmatched(&mut self, _: &Unmatched, _: u64) {}

    fn tidy<'p>(&mut self, open: impl Iterator<Item = &'p mut Self::Place>) {
        self.0.tidy(open.map(|(place, _)| place));
    }

    fn finish(&mut self) {
        self.0.hand_over();
    }
}
