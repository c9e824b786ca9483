//! Answers questions about a trace: where its time went, and what was running when it ended.
//!
//! | question | answer |
//! |---|---|
//! | which functions are hot, and how long do their calls take | [`functions()`] |
//! | through which callers are they reached | [`tree()`] |
//! | who calls a function, and what does it call | [`pairs()`] |
//! | what was running when the trace ended | [`last()`] |
//! | what happened, call by call | [`calls()`] |
//! | what changed between runs of a program | [`diff()`] |
//!
//! Each function except [`diff()`] takes a [`SessionReader`], the [`Segments`] of a process, a
//! [`ThreadReader`] or an [`IndexReader`]. It reads all events once, with several threads in
//! parallel, except for [`calls()`], which reads one thread after another. Results do not depend on
//! the number of cores. [`diff()`] compares the results of [`functions()`].
//!
//! # Time
//!
//! Calls never cross threads, so each thread is analysed on its own, and the times are added up.
//! Calls are paired with returns as in [`spans`](crate::spans). A thread's time belongs to its
//! innermost open call and counts as that function's *self* time. A function's *total* time is the
//! time in which at least one of its calls is open. The self times of all functions therefore add
//! up to the time in which calls were open ([`ThreadTotals::busy_ns`]), and no function's total
//! time is less than its self time.
//!
//! - A call that no event ended lasts until the thread's last event. It counts as
//!   [`open`](Times::open), and [`Durations`] do not include it. If the manifest names the signal
//!   that ended the process, and no event of the thread can be missing, it lasts at least until the
//!   process's last event, and also counts as [`at_least`](Times::at_least).
//! - With [`Segments`], a call may start in one segment and end in a later one. If a segment is
//!   missing, or a thread in it cannot be read, the thread's open calls end at its last event
//!   before the gap, and count as open.
//! - If a thread's timestamps decrease, the greatest one so far is used until they catch up. A
//!   single timestamp that is too great is replaced by the next event's. The first and the
//!   last event have the times on which header and footer agree. Each decrease is counted in
//!   [`out_of_order`](ThreadTotals::out_of_order).
//! - Events in a [hole](crate::index::Hole) have no time. They are counted as events, and
//!   otherwise ignored.
//! - With a time range ([`Options::from_ns`], [`Options::to_ns`]), a call counts if it overlaps the
//!   range, and only the part of its time within the range counts.
//! - With a recording's clock ([`Options::clock`]), all times and durations are on that clock.
//!
//! # Problems
//!
//! Events are verified as they are read. Results contain everything that can be read, and
//! `problems` shows how the events that were read differ from those that the tracer wrote. A
//! [merge](crate::merge) of all events reports the same problems. If more than 262,144 calls are
//! open at once, the outermost calls are given up, and `problems` reports this.
//!
//! # Cost
//!
//! Threads are read in parallel, but each thread is read on a single core, however large it is,
//! because a call can be paired only once all earlier events are known. Memory use does not grow
//! with the number of events; each function documents how much it needs.

mod calls;
mod died;
mod diff;
mod durations;
mod functions;
mod last;
mod merging;
mod pairs;
mod places;
mod table;
mod tree;
mod unit;
mod walk;

use std::collections::BTreeSet;
use std::num::NonZero;
use std::path::PathBuf;
use std::slice;

use crate::clock::MediaClock;
use crate::error::{Error, Result};
use crate::index::{IndexFooter, IndexReader};
use crate::manifest::Loss;
use crate::parallel;
use crate::session::{self, Problem, Segments, SessionReader, ThreadEntry};
use crate::setters::with_setters;
use crate::spans::ThreadClock;
use crate::thread::ThreadReader;

use self::died::Deaths;
use self::unit::Unit;
use self::walk::{Observer, Walk};

pub use calls::{CallEnd, CallStart, CallVisitor, ThreadFolder, ThreadStart, calls};
pub use diff::{Change, Diff, Figures, Run, Spread, Subject, diff};
pub use durations::{Bucket, Durations};
pub use functions::{FunctionTimes, Functions, functions};
pub use last::{Last, LastOfThread, last};
pub use pairs::{Pair, Pairs, pairs};
pub use table::Times;
pub use tree::{Node, Tree, tree};

with_setters! {
    /// The part of a trace to analyse, and the limits of the analysis.
    #[derive(Debug, Clone)]
    #[non_exhaustive]
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
        /// The clock of a recording, for `from_ns`, `to_ns` and the results; `None`, the default,
        /// for the trace's own clock. Events before the recording have time 0. The events that
        /// [`calls()`] passes on keep their own timestamps.
        pub clock: Option<MediaClock>,
    }
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
            clock: None,
        }
    }
}

impl Options {
    /// Converts a timestamp to the results' clock.
    fn time(&self, timestamp_ns: u64) -> u64 {
        match &self.clock {
            Some(clock) => clock.to_media_ns_or_zero(timestamp_ns),
            None => timestamp_ns,
        }
    }

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

/// The threads to analyse, from a reader of a session, a process's segments, a thread's folder or
/// an index file.
#[derive(Debug, Clone, Copy)]
pub struct Threads<'a>(Source<'a>);

#[derive(Debug, Clone, Copy)]
enum Source<'a> {
    /// The sessions of a process, in order.
    Sessions(&'a [SessionReader]),
    /// A thread and its session.
    Thread(&'a ThreadReader, Option<&'a SessionReader>),
    Index(&'a IndexReader),
}

impl<'a> From<&'a SessionReader> for Threads<'a> {
    fn from(session: &'a SessionReader) -> Self {
        Self(Source::Sessions(slice::from_ref(session)))
    }
}

impl<'a> From<&'a Segments> for Threads<'a> {
    fn from(segments: &'a Segments) -> Self {
        Self(Source::Sessions(segments.sessions()))
    }
}

impl<'a> From<&'a ThreadReader> for Threads<'a> {
    fn from(thread: &'a ThreadReader) -> Self {
        Self::of_thread(thread, None)
    }
}

impl<'a> From<&'a IndexReader> for Threads<'a> {
    fn from(index: &'a IndexReader) -> Self {
        Self(Source::Index(index))
    }
}

impl<'a> Threads<'a> {
    /// Returns a single thread. Its losses, and those of recoveries, are those in the manifest of
    /// `session`, to which it belongs.
    #[must_use]
    pub fn of_thread(thread: &'a ThreadReader, session: Option<&'a SessionReader>) -> Self {
        Self(Source::Thread(thread, session))
    }
}

impl Threads<'_> {
    /// Returns the events that the tracer lost in threads without readable files, as
    /// [`Segments::lost_events`] does; `None` for a single thread.
    #[must_use]
    pub fn lost_events(&self) -> Option<Loss> {
        match self.0 {
            Source::Sessions(sessions) => session::lost_events(sessions),
            Source::Thread(..) | Source::Index(_) => None,
        }
    }

    /// Returns the earliest and the latest timestamp of all threads in nanoseconds; `None` if no
    /// readable thread has events.
    #[must_use]
    pub fn time_range(&self) -> Option<(u64, u64)> {
        let index = match self.0 {
            Source::Sessions(sessions) => {
                let threads = sessions.iter().flat_map(SessionReader::threads);
                let indexes = threads.map(ThreadEntry::open_index);
                let times = indexes.filter_map(|index| times_of(&index.ok()?));
                return times.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)));
            }
            Source::Thread(thread, _) => thread.index(),
            Source::Index(index) => index,
        };
        times_of(index)
    }
}

/// Returns the times on which the header and the footer of a file agree. If the first or the last
/// event has another time, it changed after it was written.
fn stated_times(index: &IndexReader) -> Option<(u64, u64)> {
    let (header, footer) = (index.header(), index.footer()?);
    let stated = (footer.time_start_ns, footer.time_end_ns);
    let is_sound = 0 < stated.0 && stated.0 <= stated.1;
    let is_agreed = (header.time_start_ns, header.time_end_ns) == stated;
    (is_sound && is_agreed).then_some(stated)
}

/// Returns the times of a thread's first and last event, corrected like those of
/// [all events](self#time) as far as these two, the second event and the footer show. The footer
/// has the time of an event in a hole.
fn times_of(index: &IndexReader) -> Option<(u64, u64)> {
    let (first_ns, last_ns) = index.time_range().ok()??;
    if first_ns > 0 && last_ns > 0 {
        let (start_ns, end_ns) = stated_times(index).unzip();
        let start_ns = start_ns.filter(|start_ns| *start_ns != first_ns);
        let next = index.get(1).ok()?.filter(|_| start_ns.is_none());
        let next_ns = next.map(|next| next.timestamp_ns);
        let mut clock = ThreadClock::default();
        let first_ns = clock.advance(start_ns.unwrap_or(first_ns), next_ns);
        let last_ns = match index.event_count() {
            1 => first_ns,
            _ => clock.advance(end_ns.unwrap_or(last_ns), None),
        };
        return Some((first_ns, last_ns));
    }
    let footer = index.footer();
    let time = |time_ns: u64, of: fn(&IndexFooter) -> u64| match footer {
        Some(footer) if time_ns == 0 => of(footer),
        _ => time_ns,
    };
    Some((
        time(first_ns, |footer| footer.time_start_ns),
        time(last_ns, |footer| footer.time_end_ns),
    ))
}

/// The place of an event in a trace.
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
    /// [`Disorder::count`](crate::index::Disorder::count).
    pub out_of_order: u64,
    /// The place of the first such event, as in
    /// [`Disorder::first_seq`](crate::index::Disorder::first_seq).
    pub first_out_of_order: Option<EventPlace>,
    /// The number of events after the time range.
    pub later_events: u64,
    /// The earliest and the latest time of an event, in nanoseconds; `None` without events.
    pub times: Option<(u64, u64)>,
    /// The time during which at least one call was open, in nanoseconds.
    pub busy_ns: u64,
    /// How many calls were given up, at any time, because too many
    /// ([`CallStack::LIMIT`](crate::spans::CallStack::LIMIT)) were open. They count as open, and
    /// the thread has the problem [`TooManyOpenCalls`](crate::ErrorKind::TooManyOpenCalls).
    pub given_up: u64,
    /// How many events the headers of the whole thread's files count, but the files lack.
    pub missing_events: u64,
    /// The events that the tracer lost in the whole thread, according to the manifest.
    pub lost_events: Option<Loss>,
    /// The details that it lost in the whole thread.
    pub lost_details: Option<Loss>,
}

impl ThreadTotals {
    fn new(thread: u32) -> Self {
        Self {
            thread,
            ..Self::default()
        }
    }
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
    /// How many events the headers of these threads' files count, but the files lack.
    pub missing_events: u64,
    /// The events that the tracer lost in these threads at any time, according to the manifest.
    pub lost_events: Option<Loss>,
    /// The details that it lost in these threads.
    pub lost_details: Option<Loss>,
}

impl Totals {
    /// Adds up the totals of `threads`.
    #[must_use]
    pub fn of(threads: &[ThreadTotals]) -> Self {
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
            for (sum, loss) in [
                (&mut all.lost_events, one.lost_events),
                (&mut all.lost_details, one.lost_details),
            ] {
                add(sum, loss);
            }
            all.times = match (all.times, one.times) {
                (Some(all), Some(one)) => Some((all.0.min(one.0), all.1.max(one.1))),
                (all, one) => all.or(one),
            };
        }
        all
    }

    /// Adds events that the tracer lost in threads without files; see
    /// [`Segments::lost_events`](crate::session::Segments::lost_events).
    pub fn add_lost_events(&mut self, loss: Option<Loss>) {
        add(&mut self.lost_events, loss);
    }
}

fn add(sum: &mut Option<Loss>, loss: Option<Loss>) {
    *sum = sum.iter().copied().chain(loss).reduce(Loss::plus);
}

const fn problem(thread: Option<u32>, error: Error) -> Problem {
    Problem {
        process: 0,
        thread,
        error,
    }
}

/// An analysed thread: its result, unless it could not be opened, and its problems.
struct Analysed<R> {
    result: Option<R>,
    problems: Vec<Problem>,
}

/// Runs `work` on threads in parallel, and passes on the results and problems in thread order.
fn side_by_side<'u, 'a, R: Send>(
    units: &'u [Unit<'a>],
    options: &Options,
    problems: &mut Vec<Problem>,
    work: impl Fn(&'u Unit<'a>) -> Result<Analysed<R>> + Sync,
    mut take: impl FnMut(R),
) -> Result<()> {
    let jobs = options.jobs.unwrap_or_else(parallel::cores);
    let most = NonZero::new(units.len()).unwrap_or(NonZero::<usize>::MIN);
    let produce = |pass: &mut dyn FnMut(&'u Unit<'a>) -> bool| {
        // No more units are needed once `pass` returns false.
        let _ = units.iter().all(pass);
    };
    let mut result = Ok(());
    let send = |unit, found: &parallel::Results<'_, _>| found.send(work(unit));
    parallel::in_order(jobs.min(most), produce, send, |analysed| {
        match analysed {
            Ok(analysed) => {
                problems.extend(analysed.problems);
                analysed.result.map(&mut take);
            }
            Err(error) => result = Err(error),
        }
        result.is_ok()
    });
    result
}

/// Calls `read` with the number of threads to read in parallel. `read` also returns whether a limit
/// was reached. If one was, calls `read` again to read one thread after another, so that the result
/// does not depend on the number of cores.
fn on_any_cores<T>(
    options: &Options,
    read: impl Fn(&Options, NonZero<usize>) -> Result<(T, bool)>,
) -> Result<T> {
    let read = |jobs| read(&options.clone().jobs(Some(jobs)), jobs);
    let jobs = options.jobs.unwrap_or_else(parallel::cores);
    let (result, is_full) = read(jobs)?;
    if is_full && jobs.get() > 1 {
        drop(result);
        return Ok(read(NonZero::<usize>::MIN)?.0);
    }
    Ok(result)
}

/// Reads threads in parallel. Each thread has an observer, which collects the results.
fn run<O: Observer>(
    threads: &Threads<'_>,
    options: &Options,
    new: impl Fn() -> O + Sync,
) -> Result<(Vec<ThreadTotals>, Vec<Problem>)> {
    let (units, mut problems) = threads.select(options);
    let deaths = Deaths::of(threads, options);
    let mut totals = Vec::new();
    let work = |unit: &Unit<'_>| {
        let mut problems = Vec::new();
        let mut walk = Walk::new(unit.id(), options, new());
        let end = unit.read(options, &mut problems, |step| walk.step(&step))?;
        let result = match end {
            Some(end) => {
                let (mut totals, _) = walk.finish(deaths.until_ns(unit, &end))?;
                problems.extend(end.given_up(totals.given_up));
                [totals.lost_events, totals.lost_details] = unit.losses(options);
                totals.missing_events = end.missing_events;
                Some(totals)
            }
            None => None,
        };
        Ok(unit.analysed(result, problems))
    };
    let take = |thread| totals.push(thread);
    side_by_side(&units, options, &mut problems, work, take)?;
    Ok((totals, problems))
}
