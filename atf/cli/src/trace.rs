//! Opens traces, and first reports anything that a user should know about them.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use atf::manifest::{Manifest, Missing};
use atf::session::SessionReader;
use atf::symbols::SymbolTable;
use atf::trace::{PathKind, Process, Thread, Trace};
use atf::{Error, ErrorKind};
use atf_analyze::{Options, Totals};

use crate::info::lost_manifest;
use crate::output::{Failure, complain};
use crate::text::{counted, extent, first_names};
use crate::time::TimeRange;

/// The trace's own clock, or that of a sound or screen recording, which sessions from several
/// machines can share. Help on each variant would make each option's help several lines longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Clock {
    Trace,
    Media,
}

/// The clock for a command's times.
#[derive(Debug, clap::Args)]
pub(crate) struct ClockOption {
    /// The clock of the times: the trace's own, or that of the sound or screen recording that the session's
    /// timing anchors name
    #[arg(long, value_name = "CLOCK", default_value = "trace")]
    pub(crate) clock: Clock,
}

/// Parses a thread's id, or the name of its folder.
fn thread_id(text: &str) -> Result<u32, String> {
    let id = text.strip_prefix("thread_").unwrap_or(text).parse();
    id.map_err(|_| "expected a thread id or its folder's name, such as 1 or thread_1".to_owned())
}

/// The option that selects threads; empty for all.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct ThreadOption {
    /// Only this thread
    #[arg(long = "thread", value_name = "ID", value_parser = thread_id)]
    ids: Vec<u32>,
}

impl Deref for ThreadOption {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        &self.ids
    }
}

/// The maximum number of threads to list in a message.
const NAMED: usize = 20;

/// A process, and the times to which its relative times refer.
#[derive(Debug)]
pub(crate) struct TimedProcess {
    process: Process,
    /// The times of the first event (the origin of relative times) and the last event. Processes
    /// that share a clock share these times.
    times: Option<(u64, u64)>,
    /// Whether the manifests count the lost events of all sessions; set on first use.
    counts_losses: OnceLock<bool>,
}

impl From<&TimedProcess> for Process {
    fn from(timed: &TimedProcess) -> Self {
        timed.process.clone()
    }
}

impl Deref for TimedProcess {
    type Target = Process;

    fn deref(&self) -> &Process {
        &self.process
    }
}

/// The names in another session's manifest, if they replace the names in the trace itself.
pub(crate) type OtherNames = Option<Arc<SymbolTable>>;

/// Reads the names in the manifest at a path.
pub(crate) fn other_names(path: Option<&Path>) -> Result<OtherNames, Failure> {
    let Some(path) = path else {
        return Ok(None);
    };
    let failed = |error: &Error| Failure::Usage(error.to_string());
    let manifest = Manifest::open(path).map_err(|error| failed(&error))?;
    match manifest.problems.first() {
        Some(error) if manifest.is_unreadable() => Err(failed(error)),
        _ => Ok(Some(Arc::new(manifest.into()))),
    }
}

/// Opens the trace at these paths. Uses the function names in `names` or, without it, those in the
/// trace's manifests. Converts times to `clock`.
pub(crate) fn open_trace(
    paths: &[PathBuf],
    names: &OtherNames,
    clock: Clock,
) -> Result<Trace, Failure> {
    let is_single =
        |path: &PathBuf| PathKind::detect(path).is_ok_and(|kind| kind.is_single_thread());
    let trace = Trace::open_all(paths).map_err(|error| match error.kind() {
        ErrorKind::NotATrace { .. } | ErrorKind::SameTrace { .. } => Failure::Input(error),
        _ if paths.iter().any(is_single) => Failure::Damaged(error),
        _ => Failure::Input(error),
    })?;
    trace.processes().iter().for_each(report_deleted);
    let trace = match names {
        Some(names) => trace.with_names(Arc::clone(names)),
        None => trace,
    };
    Ok(match clock {
        Clock::Media => trace.on_media_clock()?,
        Clock::Trace => trace,
    })
}

/// Opens the processes at these paths as [`open_trace`] does, and reports changes by recoveries
/// that lost no events. Losses are reported as problems.
pub(crate) fn open_processes(
    paths: &[PathBuf],
    names: &OtherNames,
    clock: Clock,
) -> Result<Vec<TimedProcess>, Failure> {
    let trace = open_trace(paths, names, clock)?;
    let timed = |process: &Process| TimedProcess {
        process: process.clone(),
        times: process.time_range(),
        counts_losses: OnceLock::new(),
    };
    let mut processes: Vec<_> = trace.processes().iter().map(timed).collect();
    let alone = processes.iter().filter(|it| it.is_single_thread()).count();
    let mut whole = processes.iter().skip(alone);
    let is_one_run = |first: &TimedProcess| whole.all(|next| first.is_of_run_of(next));
    let first = match clock {
        Clock::Media => 0,
        Clock::Trace if processes.get(alone).is_some_and(is_one_run) => alone,
        Clock::Trace => processes.len(),
    };
    if let Some(same) = processes.get_mut(first..) {
        let all = same.iter().filter_map(|it| it.times).reduce(union);
        same.iter_mut().for_each(|it| it.times = all);
    }
    for process in trace.processes() {
        let of_session = |session: &SessionReader| {
            for change in session.manifest().into_iter().flat_map(Manifest::changes) {
                complain(format_args!("{}: {change}", session.path().display()));
            }
        };
        process.sessions().iter().for_each(of_session);
    }
    Ok(processes)
}

impl TimedProcess {
    /// Returns the times of the first and the last event.
    pub(crate) fn times(&self) -> Option<(u64, u64)> {
        self.times
    }

    /// Returns the time of the last event.
    pub(crate) fn end_ns(&self) -> Option<u64> {
        self.times.map(|(_, end_ns)| end_ns)
    }

    /// Returns the origin of times in text output, or `None` to show times unchanged: a
    /// recording's, or those of a trace without readable events.
    pub(crate) fn origin_ns(&self) -> Option<u64> {
        let start_ns = self.times.map(|(start_ns, _)| start_ns);
        start_ns.filter(|_| self.clock().is_none())
    }

    /// Returns the options for analyzing a time range.
    pub(crate) fn options(&self, range: TimeRange) -> Result<Options, Failure> {
        let (from_ns, to_ns) = range.resolve(self.times)?;
        Ok(Options {
            from_ns,
            to_ns,
            ..Options::default()
        })
    }

    /// Returns the length of an analysed time range within the trace, or `None` for the whole
    /// trace.
    pub(crate) fn range_ns(&self, options: &Options) -> Option<u64> {
        let (start_ns, end_ns) = self.times?;
        let (from_ns, to_ns) = (options.from_ns, options.to_ns);
        let range_ns = || end_ns.min(to_ns).saturating_sub(start_ns.max(from_ns));
        (from_ns > 0 || to_ns < u64::MAX).then(range_ns)
    }

    /// Describes the process in words.
    pub(crate) fn noun(&self) -> String {
        match self.sessions() {
            _ if self.is_single_file() => "index file".to_owned(),
            _ if self.is_single_thread() => "thread".to_owned(),
            [_] => "session".to_owned(),
            sessions => counted(sessions.len() as u64, "segment"),
        }
    }

    /// Returns whether the totals of `threads` selected threads, or of all if 0, include all events
    /// that the tracer lost. Only manifests count these, and the totals include a thread only if
    /// its files were read.
    pub(crate) fn knows_losses(&self, totals: &Totals, threads: usize) -> bool {
        let sessions = self.sessions();
        let is_counted = |session: &SessionReader| {
            session.manifest().is_some_and(counts_losses) && !lost_manifest(session.path())
        };
        // A report by thread calls this once per thread.
        let counts = || !sessions.is_empty() && sessions.iter().all(is_counted);
        *self.counts_losses.get_or_init(counts) && totals.threads >= threads as u64
    }

    fn thread_ids(&self) -> BTreeSet<u32> {
        self.threads().iter().map(Thread::id).collect()
    }

    /// Returns the ids of the selected threads that this process contains, or of all its threads if
    /// `ids` is empty.
    pub(crate) fn selected(&self, ids: &[u32]) -> BTreeSet<u32> {
        let mut selected = self.thread_ids();
        selected.retain(|id| ids.is_empty() || ids.contains(id));
        selected
    }
}

pub(crate) fn unwritten_events(missing: Option<Missing>) -> Option<u64> {
    match missing? {
        Missing::Unwritten { events, .. } => Some(events),
        _ => None,
    }
}

/// Returns whether the numbers of lost events in a manifest could be read.
fn counts_losses(manifest: &Manifest) -> bool {
    let is_bad = |problem: &Error| {
        let is_of = |key: &str| problem.field().is_none_or(|field| field.starts_with(key));
        !problem.kind().is_ignored() && ["threads", "lost_events"].into_iter().any(is_of)
    };
    // Only the first problems are listed.
    let listed = manifest.problems.iter();
    let listed = listed.filter(|problem| !problem.kind().is_ignored());
    manifest.problem_count - manifest.ignored_count <= listed.count() as u64
        && !manifest.problems.iter().any(is_bad)
}

/// Reports that no trace overlaps a time range, as when a `+` was forgotten. Call it only if
/// nothing was found: the first and last times of a trace whose time goes back are not its limits.
pub(crate) fn report_outside(processes: &[TimedProcess], (from_ns, to_ns): (u64, u64)) {
    let times = processes.iter().filter_map(|it| it.times);
    let all = times.clone().reduce(union);
    let is_inside = |(start_ns, end_ns)| start_ns <= to_ns && from_ns <= end_ns;
    if let Some(all) = all.filter(|_| !times.into_iter().any(is_inside)) {
        complain(format_args!("no event is in this range; {}", extent(all)));
    }
}

/// Returns the smallest time range that contains both.
pub(crate) fn union(one: (u64, u64), other: (u64, u64)) -> (u64, u64) {
    (one.0.min(other.0), one.1.max(other.1))
}

/// Reports how many segments the recording deleted, if it was set to keep only the last few.
pub(crate) fn report_deleted(process: &Process) {
    if let Some(deleted) = process.deleted() {
        let deleted = match deleted.clone().count() {
            1 => "segment 1 of the recording is".to_owned(),
            _ => format!("segments 1 to {} of the recording are", deleted.end()),
        };
        complain(format_args!(
            "{}: {deleted} not in this trace: for calls that were open at its start, it contains only the returns",
            process.path().display()
        ));
    }
}

/// Reports how many events of each process the tracer had not yet written when it ended.
pub(crate) fn report_unwritten(processes: &[TimedProcess]) {
    for process in processes {
        if let Some(missing) = process.unwritten() {
            complain(format_args!("{}: {missing}", process.path().display()));
        }
    }
}

/// Reports the processes that have events but no names, if the files of their modules may contain
/// the names.
pub(crate) fn report_unnamed(processes: &[TimedProcess]) {
    for process in processes.iter().filter(|it| !it.has_other_names()) {
        let Some(session) = process.sessions().last() else {
            continue;
        };
        let is_unnamed = session.manifest().is_some_and(|manifest| {
            let mut modules = manifest.modules.iter();
            process.function_ids().is_empty()
                && modules.any(|it| it.function_offsets == Some(true))
                && process.time_range().is_some()
        });
        if is_unnamed {
            let path = session.path().display();
            complain(format_args!(
                "{path}: functions have no names; `atf symbolize {path}` looks for them in the modules' files"
            ));
        }
    }
}

/// Rejects thread ids that no process contains.
pub(crate) fn check_threads(processes: &[TimedProcess], ids: &[u32]) -> Result<(), Failure> {
    let all: BTreeSet<u32> = processes
        .iter()
        .flat_map(TimedProcess::thread_ids)
        .collect();
    check_ids(ids, all.into_iter().map(|id| (id, id.to_string())))
}

/// Rejects thread ids that are not in `all`, and lists the names of some that are.
pub(crate) fn check_ids(
    ids: &[u32],
    all: impl Iterator<Item = (u32, String)>,
) -> Result<(), Failure> {
    let (all, names): (Vec<_>, Vec<_>) = all.unzip();
    let Some(id) = ids.iter().find(|id| !all.contains(id)) else {
        return Ok(());
    };
    let names = match &first_names(names, NAMED)[..] {
        [] => "the trace has no threads".to_owned(),
        names => format!("threads: {}", names.join(", ")),
    };
    Err(Failure::Usage(format!("there is no thread {id} ({names})")))
}

/// Returns the only session at or below a path.
pub(crate) fn only_session(path: &Path) -> Result<PathBuf, Failure> {
    match PathKind::detect(path)? {
        PathKind::Sessions(sessions) => match <[PathBuf; 1]>::try_from(sessions) {
            Ok([session]) => Ok(session),
            Err(sessions) => Err(several(&[path.to_owned()], &sessions)),
        },
        // The reader rejects anything but a session.
        _ => Ok(path.to_owned()),
    }
}

/// Returns the failure for paths with several sessions: the user must choose one.
pub(crate) fn several(paths: &[PathBuf], sessions: &[PathBuf]) -> Failure {
    let names = |paths: &[PathBuf]| {
        let names = paths.iter().map(|path| path.display().to_string());
        first_names(names, 10)
    };
    let paths = names(paths).join(", ");
    let message = format!("{paths}: several sessions; name one of");
    Failure::Choice(message, names(sessions))
}
