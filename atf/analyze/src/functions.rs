//! Computes times, counts and durations per function.

use std::cmp::Reverse;
use std::sync::{Mutex, PoisonError};

use atf::spans::Unmatched;
use atf::trace::Process;

use crate::durations::Durations;
use crate::merging::{Figures, Merged, Merging};
use crate::table::{Place, Times};
use crate::walk::{Began, Ended, Observer};
use crate::{Options, Problem, ThreadTotals, Totals, jobs, on_any_cores, run};

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
    /// How many times the width of all [`Durations`]' buckets was doubled because of
    /// [`max_buckets`](Options::max_buckets); 0 at full resolution.
    pub coarseness: u32,
}

/// A function's calls and their times.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FunctionTimes {
    /// The function.
    pub function_id: u64,
    /// Its calls and their times.
    pub times: Times,
    /// The durations of the calls that an event ended.
    pub durations: Durations,
    /// The number of returns whose call was lost or came before the trace began.
    pub unmatched: u64,
}

impl Functions {
    /// Returns the totals over all threads.
    #[must_use]
    pub fn totals(&self) -> Totals {
        Totals::sum(&self.threads)
    }

    /// Returns a sentence about the precision of quantiles if [`max_buckets`](Options::max_buckets)
    /// reduced it.
    #[must_use]
    pub fn coarseness_note(&self) -> Option<String> {
        let parts = 32_u32
            .checked_shr(self.coarseness)
            .filter(|parts| *parts > 0);
        let precision = match (self.coarseness, parts) {
            (0, _) => return None,
            (_, Some(parts)) => format!("up to {} % off", 50_u32.div_ceil(parts)),
            (_, None) => "rough guesses".to_owned(),
        };
        Some(format!(
            "too many different durations to keep apart: quantiles other than the minimum and maximum are {precision}"
        ))
    }
}

/// Returns the functions in a trace with their calls, times and durations, hottest first.
///
/// Memory: about 150 bytes per function of the result (at most
/// [`max_functions`](Options::max_functions) functions), plus 8 to 48 bytes per bucket of its
/// [`Durations`] (at most [`max_buckets`](Options::max_buckets) buckets), plus 20 MB in total for
/// the threads being read, which merge their functions into the result as they go. Open calls add
/// to this: 28 MiB per core if 262,144 are open. If there are more functions than the limit, the
/// trace is read again, one thread after another, so that the result does not depend on the number
/// of cores.
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
///
/// let session = atf::session::SessionReader::open(path)?;
/// let functions = atf_analyze::functions(&session, &atf_analyze::Options::default());
/// for function in functions.functions.iter().take(20) {
///     let name = session.symbols().function(function.function_id);
///     println!("{} ns in {name}", function.times.self_ns);
/// }
/// let [hottest, outer] = &functions.functions[..] else { panic!() };
/// assert_eq!((hottest.function_id, hottest.times.self_ns), (8, 130));
/// assert_eq!((outer.times.self_ns, outer.times.total_ns), (20, 150));
/// assert!(functions.problems.is_empty(), "no events are missing");
/// # Ok::<(), atf::Error>(())
/// ```
#[must_use]
pub fn functions(process: impl Into<Process>, options: &Options) -> Functions {
    let process = process.into();
    on_any_cores(options, |options| read(&process, options))
}

/// Adds up the functions. Also returns whether some have no entry because of the limit.
fn read(process: &Process, options: &Options) -> (Functions, bool) {
    let all = Mutex::new(Merged::new(options.max_functions, options.max_buckets));
    let jobs = jobs(options.jobs);
    let new = || ByFunction(Merging::new(&all, jobs));
    let (threads, problems) = run(process, options, new);
    let all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    let (is_full, coarseness) = (all.table.is_full, all.coarseness);
    let function = |(function_id, times, of): (u64, Times, Of)| FunctionTimes {
        function_id,
        times,
        durations: of.durations,
        unmatched: of.unmatched,
    };
    let is_reported =
        |function: &FunctionTimes| !function.times.is_empty() || function.unmatched > 0;
    let (rows, (times, of)) = all.table.into_rows();
    let mut functions: Vec<_> = rows.map(function).filter(is_reported).collect();
    functions.sort_unstable_by_key(|it| (Reverse(it.times.self_ns), it.function_id));
    let functions = Functions {
        functions,
        others: Some(function((0, times, of))).filter(is_reported),
        threads,
        problems,
        coarseness,
    };
    (functions, is_full)
}

struct ByFunction<'a>(Merging<'a, u64, Of>);

/// A function's figures other than times.
#[derive(Debug, Default)]
struct Of {
    durations: Durations,
    unmatched: u64,
}

impl Figures for Of {
    fn merge(&mut self, other: Self, coarseness: u32) -> usize {
        self.unmatched = self.unmatched.saturating_add(other.unmatched);
        self.durations.merge(&other.durations, coarseness)
    }

    fn coarsen(&mut self, coarseness: u32) -> usize {
        self.durations.coarsen(coarseness)
    }
}

impl Observer for ByFunction<'_> {
    type Place = Place;

    fn call(&mut self, _: Option<Place>, call: &Began<'_>) -> Place {
        let place = self.0.table.place(call.event.function_id);
        self.0.table.begin(place, call.now_ns);
        place
    }

    fn spend(&mut self, place: Place, ns: u64) {
        self.0.table.spend(place, ns);
    }

    fn end(&mut self, place: Place, ended: &Ended) {
        self.0.table.end(place, ended);
        if ended.is_counted && ended.how.is_known() {
            let durations = &mut self.0.table.value(place).durations;
            let new = durations.add(ended.duration_ns);
            self.0.buckets = self.0.buckets.saturating_add(new);
        }
    }

    fn unmatched(&mut self, unmatched: &Unmatched, _: u64) {
        let place = self.0.table.place(unmatched.function_id);
        let of = self.0.table.value(place);
        of.unmatched = of.unmatched.saturating_add(1);
    }

    fn tidy<'p>(&mut self, open: impl Iterator<Item = &'p mut Place>) {
        self.0.tidy(open);
    }

    fn finish(&mut self) {
        self.0.hand_over();
    }
}
