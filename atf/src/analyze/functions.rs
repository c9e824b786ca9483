//! Computes times, counts and durations per function.

use std::cmp::Reverse;

use super::durations::Durations;
use super::table::{Place, Table, Times};
use super::walk::{Began, Ended, Observer};
use super::{Options, ThreadTotals, Threads, Totals, run};
use crate::error::Result;
use crate::session::Problem;
use crate::spans::Unmatched;

/// The functions of a trace, from [`functions`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Functions {
    /// The functions, sorted by descending self time, then by id.
    pub functions: Vec<FunctionTimes>,
    /// The sums over all functions beyond [`max_functions`](Options::max_functions), with id 0.
    /// `None` if every function has its own entry.
    pub others: Option<FunctionTimes>,
    /// The threads that were read, by id.
    pub threads: Vec<ThreadTotals>,
    /// How the events differ from what the tracer wrote, and which threads were not read.
    pub problems: Vec<Problem>,
}

/// A function's calls and their times.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FunctionTimes {
    /// The function.
    pub function_id: u64,
    /// Its calls and their times.
    pub times: Times,
    /// The durations of the calls that were ended by an event.
    pub durations: Durations,
    /// The number of returns whose call was lost or came before the trace began.
    pub unmatched: u64,
}

impl Functions {
    /// Returns the totals over all threads.
    #[must_use]
    pub fn totals(&self) -> Totals {
        Totals::of(&self.threads)
    }
}

/// Returns the functions in a trace with their calls, times and durations, hottest first.
///
/// Memory for each thread read in parallel: about 150 bytes per function, plus its [`Durations`]
/// (usually less than 1 KiB, at most 15 KiB), plus 28 MiB if 262,144 calls are open. At most
/// [`max_functions`](Options::max_functions) functions are listed separately.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path();
/// # let writer = atf::write::SessionWriter::create(path, &Default::default())?;
/// # let mut thread = writer.thread(0)?;
/// # for (timestamp_ns, id, event_kind) in [(100, 7, atf::EventKind::CALL), (110, 8, atf::EventKind::CALL),
/// #     (240, 8, atf::EventKind::RETURN), (250, 7, atf::EventKind::RETURN)] {
/// #     thread.write(&atf::write::Event::new(timestamp_ns, id, event_kind, 1))?;
/// # }
/// # thread.finalize()?;
/// # writer.finalize()?;
/// use atf::analyze;
///
/// let session = atf::session::SessionReader::open(path)?;
/// let functions = analyze::functions(&session, &analyze::Options::default())?;
/// for function in functions.functions.iter().take(20) {
///     let name = session.symbols().function(function.function_id);
///     println!("{} ns in {name}", function.times.self_ns);
/// }
/// let [hottest, outer] = &functions.functions[..] else { panic!() };
/// assert_eq!((hottest.function_id, hottest.times.self_ns), (8, 130));
/// assert_eq!((outer.times.self_ns, outer.times.total_ns), (20, 150));
/// assert!(functions.problems.is_empty(), "all events are there");
/// # Ok::<(), atf::Error>(())
/// ```
///
/// # Errors
///
/// Only [`ErrorKind::Internal`](crate::ErrorKind::Internal). Read errors are in
/// [`problems`](Functions::problems).
pub fn functions<'a>(threads: impl Into<Threads<'a>>, options: &Options) -> Result<Functions> {
    let mut table = Table::<u64, Of>::new(options.max_functions);
    let new = || ByFunction(Table::new(options.max_functions));
    let (threads, problems) = run(&threads.into(), options, new, |thread| {
        table.merge(thread.0, |all, one| {
            all.durations.merge(&one.durations);
            all.unmatched = all.unmatched.saturating_add(one.unmatched);
        });
    })?;
    let function = |(function_id, times, of): (u64, Times, Of)| FunctionTimes {
        function_id,
        times,
        durations: of.durations,
        unmatched: of.unmatched,
    };
    let is_told = |function: &FunctionTimes| !function.times.is_empty() || function.unmatched > 0;
    let (rows, (times, of)) = table.into_rows();
    let mut functions: Vec<_> = rows.map(function).filter(is_told).collect();
    functions.sort_unstable_by_key(|it| (Reverse(it.times.self_ns), it.function_id));
    Ok(Functions {
        functions,
        others: Some(function((0, times, of))).filter(is_told),
        threads,
        problems,
    })
}

struct ByFunction(Table<u64, Of>);

/// A function's figures other than times.
#[derive(Debug, Default)]
struct Of {
    durations: Durations,
    unmatched: u64,
}

impl Observer for ByFunction {
    type Place = Place;

    fn call(&mut self, _: Option<Place>, call: &Began<'_>) -> Place {
        let place = self.0.place(call.event.function_id);
        self.0.begin(place, call.now_ns);
        place
    }

    fn spend(&mut self, place: Place, ns: u64) {
        self.0.spend(place, ns);
    }

    fn end(&mut self, place: Place, ended: &Ended) {
        self.0.end(place, ended);
        if ended.is_counted && ended.is_known {
            self.0.value(place).durations.add(ended.duration_ns);
        }
    }

    fn unmatched(&mut self, unmatched: &Unmatched, _: u64) {
        let place = self.0.place(unmatched.function_id);
        let of = self.0.value(place);
        of.unmatched = of.unmatched.saturating_add(1);
    }
}
