//! Answers questions about a trace: where its time went, and what was running when it ended.
//!
//! | question | answer |
//! |---|---|
//! | which functions are hot and how long their calls take | [`functions()`] |
//! | which callers lead to them | [`tree()`] |
//! | what calls a function and what it calls | [`pairs()`] |
//! | what was running when the trace ended | [`last()`] |
//! | what happened, call by call | [`calls()`] |
//! | what changed between runs of a program | [`diff()`] |
//!
//! Each function except [`diff()`] takes a [`Process`], or a
//! [`SessionReader`](atf::session::SessionReader) as one. It reads all events once, with several
//! threads in parallel; only [`calls()`] reads one thread after another. Results do not depend on
//! the number of cores. [`diff()`] compares the results of [`functions()`].
//!
//! # Time
//!
//! Calls never cross threads, so each thread is analysed on its own, and the times are added up.
//! Calls are paired with returns as in [`spans`](atf::spans). A thread's time belongs to its
//! innermost open call and counts as that function's *self* time. A function's *total* time is the
//! time in which at least one of its calls is open. The self times of all functions therefore add
//! up to the time in which calls were open ([`ThreadTotals::busy_ns`]), and no function's total
//! time is less than its self time.
//!
//! - A call that no event ended lasts until the thread's last event. It counts as
//!   [`open`](Times::open), and [`Durations`] do not include it. If the manifest names the signal
//!   that ended the process, and no event of the thread can be missing, it lasts at least until the
//!   process's last event, and also counts as [`at_least`](Times::at_least).
//! - With several segments, a call may start in one segment and end in a later one. If a segment is
//!   missing, a thread in it cannot be read, or events are in a [hole](atf::index::Hole), the
//!   thread's open calls end at its last event before the gap, and count as open.
//! - If a thread's timestamps decrease, the largest one so far is used until they catch up. A
//!   single timestamp that is too large is replaced by the next event's. The first and last events
//!   have the times on which header and footer agree. Each decrease is counted in
//!   [`out_of_order`](ThreadTotals::out_of_order).
//! - Events in a hole have no time. They are counted as events but otherwise ignored.
//! - With a time range ([`Options::from_ns`], [`Options::to_ns`]), a call counts if it overlaps the
//!   range, and only the part of its time within the range counts.
//! - All times and durations are on the [process's clock](Process::clock).
//!
//! # Problems
//!
//! Events are verified as they are read. Results contain everything that can be read, and
//! `problems` shows how the events that were read differ from those that the tracer wrote. A
//! [merge](atf::merge) of all events reports the same problems. If more than 262,144 calls are
//! open at once, the outermost calls are given up, and `problems` reports this.
//!
//! # Cost
//!
//! Threads are read in parallel, but each thread is read on a single core, however large it is,
//! because a call can be paired only once all earlier events are known. Memory use does not grow
//! with the number of events; each function documents how much it needs.

#![forbid(unsafe_code)]
// Numbers from a file are never trusted: code that handles them must not be able to panic.
#![warn(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

mod calls;
mod diff;
mod durations;
mod functions;
mod last;
mod merging;
mod pairs;
mod pattern;
mod places;
mod table;
mod tree;
mod unit;
mod walk;

use std::collections::BTreeSet;
use std::iter;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Builder};

use atf::Error;
use atf::manifest::Losses;
use atf::trace::{Process, Thread};

use crate::unit::{Deaths, problems_of, read_all, select};
use crate::walk::{Observer, Walk};

pub use calls::{CallEnd, CallStart, CallVisitor, ThreadFolder, ThreadStart, calls};
pub use diff::{Change, Diff, Figures, Run, Spread, Subject, diff};
pub use durations::{Bucket, Durations};
pub use functions::{FunctionTimes, Functions, functions};
pub use last::{Last, LastOfThread, last};
pub use pairs::{Pair, Pairs, pairs};
pub use pattern::Pattern;
pub use table::Times;
pub use tree::{Node, Tree, tree};
#[doc(hidden)]
pub use unit::{End, Step, Timed, read as read_thread};

/// The part of a trace to analyse, and the limits of the analysis.
#[derive(Debug, Clone)]
pub struct Options {
    /// The threads to read, by the ids in their folders' names; empty for all. A single thread
    /// or file is always read.
    pub threads: BTreeSet<u32>,
    /// The start of the time range in nanoseconds; 0 by default.
    pub from_ns: u64,
    /// The end of the time range in nanoseconds, inclusive; [`u64::MAX`] by default.
    pub to_ns: u64,
    /// The maximum number of functions to list separately; 2¹⁹ by default. The rest share one
    /// entry.
    pub max_functions: usize,
    /// The maximum number of a tree's nodes, or of pairs of functions, to list separately; a
    /// million by default. The rest share one entry.
    pub max_nodes: usize,
    /// The maximum number of buckets of all functions' [`Durations`] together; 2²¹ by default.
    /// If more are needed, the durations of all functions are
    /// [coarsened](Functions::coarseness).
    pub max_buckets: usize,
    /// How many threads to read in parallel; `None`, the default, for one per core.
    pub jobs: Option<NonZero<usize>>,
}
impl Default for Options {
    /// Selects all threads and all times.
    fn default() -> Self {
        Self {
            threads: BTreeSet::new(),
            from_ns: 0,
            to_ns: u64::MAX,
            max_functions: 1 << 19,
            max_nodes: 1_000_000,
            max_buckets: 1 << 21,
            jobs: None,
        }
    }
}

impl Options {
    fn contains(&self, ns: u64) -> bool {
        self.overlaps(ns, ns)
    }

    fn overlaps(&self, start_ns: u64, end_ns: u64) -> bool {
        start_ns <= self.to_ns && end_ns >= self.from_ns
    }

    fn clip(&self, ns: u64) -> u64 {
        // Do not use `clamp`, which panics if the range ends before it begins.
        ns.max(self.from_ns).min(self.to_ns)
    }
}

/// The location of an event in a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventPlace {
    /// The thread's id: from its folder's name or, for a file opened on its own, from its header.
    pub thread: u32,
    /// The index file, in the folder of the event's segment; `None` if it was not opened by path.
    pub path: Option<PathBuf>,
    /// The event's position in that file.
    pub seq: u64,
}

/// A thread's totals within the time range.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThreadTotals {
    /// The id in the folder's name, or in a single file's header.
    pub thread: u32,
    /// The number of events.
    pub events: u64,
    /// The number of calls that overlap the time range.
    pub calls: u64,
    /// How many of these calls were not ended by an event.
    pub open: u64,
    /// How many of the open calls last at least until the process's last event, as in
    /// [`Times::at_least`].
    pub at_least: u64,
    /// The number of returns without a call.
    pub unmatched: u64,
    /// The number of events that are earlier than the previous event, as in
    /// [`Disorder::count`](atf::index::Disorder::count).
    pub out_of_order: u64,
    /// The place of the first such event, as in
    /// [`Disorder::first_seq`](atf::index::Disorder::first_seq).
    pub first_out_of_order: Option<EventPlace>,
    /// The number of events after the time range.
    pub later_events: u64,
    /// The earliest and the latest time of an event, in nanoseconds; `None` without events.
    pub times: Option<(u64, u64)>,
    /// The time during which at least one call was open, in nanoseconds.
    pub busy_ns: u64,
    /// How many calls were given up, at any time, because too many
    /// ([`CallStack::LIMIT`](atf::spans::CallStack::LIMIT)) were open. They count as open, and
    /// the thread has the problem [`TooManyOpenCalls`](atf::ErrorKind::TooManyOpenCalls).
    pub given_up: u64,
    /// How many events are counted in the headers of all of the thread's files but are missing.
    pub missing_events: u64,
    /// The tracer's losses in the thread, at any time, according to the manifest.
    pub losses: Losses,
}

/// The totals over several threads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Totals {
    /// The number of threads that were read.
    pub threads: u64,
    /// The number of events.
    pub events: u64,
    /// The number of calls that overlap the time range.
    pub calls: u64,
    /// How many of these calls were not ended by an event.
    pub open: u64,
    /// How many of the open calls last at least until the process's last event, as in
    /// [`Times::at_least`].
    pub at_least: u64,
    /// The number of returns without a call.
    pub unmatched: u64,
    /// The number of events that are earlier than the previous event of their thread.
    pub out_of_order: u64,
    /// The place of the first such event, in the first thread that has one.
    pub first_out_of_order: Option<EventPlace>,
    /// The earliest and the latest time of an event, in nanoseconds; `None` without events.
    pub times: Option<(u64, u64)>,
    /// The time during which calls were open, in nanoseconds, added up over threads. Saturates at
    /// [`u64::MAX`], which only damaged timestamps can reach.
    pub busy_ns: u64,
    /// How many calls were given up because too many were open.
    pub given_up: u64,
    /// How many events are counted in the headers of these threads' files but are missing.
    pub missing_events: u64,
    /// The tracer's losses in these threads at any time, according to the manifest. Add those of
    /// [threads without files](Process::losses_without_files).
    pub losses: Losses,
}

impl Totals {
    /// Adds up the totals of `threads`.
    #[must_use]
    pub fn sum(threads: &[ThreadTotals]) -> Self {
        let mut all = Self::default();
        for one in threads {
            for (sum, number) in [
                (&mut all.threads, 1),
                (&mut all.events, one.events),
                (&mut all.calls, one.calls),
                (&mut all.open, one.open),
                (&mut all.at_least, one.at_least),
                (&mut all.unmatched, one.unmatched),
                (&mut all.out_of_order, one.out_of_order),
                (&mut all.busy_ns, one.busy_ns),
                (&mut all.given_up, one.given_up),
                (&mut all.missing_events, one.missing_events),
            ] {
                *sum = sum.saturating_add(number);
            }
            if all.first_out_of_order.is_none() {
                all.first_out_of_order.clone_from(&one.first_out_of_order);
            }
            all.losses = all.losses.plus(one.losses);
            all.times = match (all.times, one.times) {
                (Some(all), Some(one)) => Some((all.0.min(one.0), all.1.max(one.1))),
                (all, one) => all.or(one),
            };
        }
        all
    }
}

/// A difference between the events that an analysis read and those that the tracer wrote.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Problem {
    /// The id in the name of the thread's folder; `None` if the problem is with the session itself.
    pub thread: Option<u32>,
    /// The error, including the file's path.
    pub error: Error,
}

/// Returns how many threads to read in parallel: `chosen` or, by default, one per core.
fn jobs(chosen: Option<NonZero<usize>>) -> NonZero<usize> {
    let cores = || thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
    chosen.unwrap_or_else(cores)
}

/// Runs `work` on items in parallel, and returns the results in the order of the items.
#[doc(hidden)]
pub fn in_parallel<'i, T: Sync, R: Send>(
    items: &'i [T],
    chosen: Option<NonZero<usize>>,
    work: impl Fn(&'i T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(items.len()));
    let take_turns = || {
        let turns = iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        let turns = turns.map_while(|at| Some((at, items.get(at)?)));
        for (at, item) in turns {
            let result = work(item);
            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
            results.push((at, result));
        }
    };
    thread::scope(|scope| {
        for _ in 1..jobs(chosen).get().min(items.len()) {
            // If a thread cannot be started, this thread does its work.
            let _ = Builder::new().spawn_scoped(scope, take_turns);
        }
        take_turns();
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_unstable_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Runs `work` on threads in parallel. Returns the results in thread order, except of threads that
/// could not be opened, and adds the problems in the same order.
fn side_by_side<'u, 'a, R: Send>(
    threads: &'u [Thread<'a>],
    options: &Options,
    problems: &mut Vec<Problem>,
    work: impl Fn(&'u Thread<'a>) -> (Option<R>, Vec<Error>) + Sync,
) -> Vec<R> {
    let analysed = threads.iter().zip(in_parallel(threads, options.jobs, work));
    let results = analysed.filter_map(|(thread, (result, errors))| {
        problems.extend(problems_of(thread, errors));
        result
    });
    results.collect()
}

/// Calls `read`, which also returns whether a limit was reached. If one was, calls `read` again to
/// read one thread after another, so that the result does not depend on the number of cores.
fn on_any_cores<T>(options: &Options, read: impl Fn(&Options) -> (T, bool)) -> T {
    let (result, is_full) = read(options);
    if is_full && jobs(options.jobs).get() > 1 {
        drop(result);
        let options = Options {
            jobs: Some(NonZero::<usize>::MIN),
            ..options.clone()
        };
        return read(&options).0;
    }
    result
}

/// Reads threads in parallel. Each thread has an observer, which collects the results.
fn run<O: Observer>(
    process: &Process,
    options: &Options,
    new: impl Fn() -> O + Sync,
) -> (Vec<ThreadTotals>, Vec<Problem>) {
    let (threads, mut problems) = select(process, options);
    let deaths = Deaths::from_process(process);
    let work = |thread: &Thread<'_>| {
        let mut problems = Vec::new();
        let mut walk = Walk::new(thread.id(), options, new());
        let end = read_all(thread, &mut problems, |step| walk.step(&step));
        let totals = end.map(|end| {
            let (totals, _) = walk.finish(thread, &end, &deaths);
            problems.extend(end.given_up(totals.given_up));
            totals
        });
        (totals, problems)
    };
    let totals = side_by_side(&threads, options, &mut problems, work);
    (totals, problems)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::in_parallel;

    #[test]
    fn results_come_in_the_items_order() {
        let items: Vec<u64> = (0..50).collect();
        let doubled = in_parallel(&items, None, |item| {
            std::thread::sleep(Duration::from_micros(50_u64.saturating_sub(*item)));
            item.saturating_mul(2)
        });
        assert!(items.iter().map(|item| item.saturating_mul(2)).eq(doubled));
        assert!(in_parallel(&[], None, |item: &u64| *item).is_empty());
    }
}
