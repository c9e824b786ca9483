//! Adds up times per pair of caller and callee.

use std::cmp::Reverse;

use super::table::{Place, Table, Times};
use super::walk::{Began, Ended, Observer};
use super::{Options, ThreadTotals, Threads, Totals, run};
use crate::error::Result;
use crate::session::Problem;
use crate::spans::Unmatched;

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
        Totals::of(&self.threads)
    }
}

/// Returns who called whom: each pair of caller and callee with its calls and times.
///
/// Memory: about 100 bytes per pair, for each thread read in parallel; at most
/// [`max_nodes`](Options::max_nodes) pairs are listed separately.
///
/// # Errors
///
/// The errors of [`functions`](super::functions()).
pub fn pairs<'a>(threads: impl Into<Threads<'a>>, options: &Options) -> Result<Pairs> {
    let mut table = Table::<Key, ()>::new(options.max_nodes);
    let new = || ByPair(Table::new(options.max_nodes));
    let (threads, problems) = run(&threads.into(), options, new, |thread| {
        table.merge(thread.0, |(), ()| ());
    })?;
    let (rows, (others, ())) = table.into_rows();
    let pair = |((caller, callee), times, ())| Pair {
        caller,
        callee,
        times,
    };
    let pairs = rows.map(pair).filter(|pair| !pair.times.is_empty());
    let mut pairs: Vec<_> = pairs.collect();
    pairs.sort_unstable_by_key(|it| (Reverse(it.times.total_ns), it.caller, it.callee));
    Ok(Pairs {
        pairs,
        others: Some(others).filter(|others| !others.is_empty()),
        threads,
        problems,
    })
}

type Key = (Option<u64>, u64);

struct ByPair(Table<Key, ()>);

impl Observer for ByPair {
    /// The place of the pair's row, and the callee's id.
    type Place = (Place, u64);

    fn call(&mut self, caller: Option<Self::Place>, call: &Began<'_>) -> Self::Place {
        let function_id = call.event.function_id;
        let place = self.0.place((caller.map(|(_, id)| id), function_id));
        self.0.begin(place, call.now_ns);
        (place, function_id)
    }

    fn spend(&mut self, (place, _): Self::Place, ns: u64) {
        self.0.spend(place, ns);
    }

    fn end(&mut self, (place, _): Self::Place, ended: &Ended) {
        self.0.end(place, ended);
    }

    fn unmatched(&mut self, _: &Unmatched, _: u64) {}
}
