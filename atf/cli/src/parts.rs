//! Opens the parts of a trace, which are analysed separately: sessions, a thread or a file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::{Arc, OnceLock};

use atf::analyze::{Options, Threads, Totals};
use atf::clock::MediaClock;
use atf::index::IndexReader;
use atf::manifest::{Loss, Manifest, Missing};
use atf::session::{Segments, SessionReader, ThreadEntry};
use atf::symbols::{Function, SymbolTable};
use atf::thread::ThreadReader;
use atf::{Error, FileKind};
use atf_export::Process;

use crate::clock::{Clock, media_clocks, media_times};
use crate::info::lost_manifest;
use crate::output::{Failure, complain};
use crate::target::{Target, are_of_one_run, check_distinct, session_around};
use crate::text::{Counted, Extent};
use crate::time::Time;

/// The maximum number of threads to list in a message.
const NAMED: usize = 20;

/// A session, the segments of a process, a thread's folder or an index file.
#[derive(Debug)]
pub(crate) struct Part {
    /// The path, or the first segment's path.
    pub(crate) path: PathBuf,
    /// The times of the first event (the origin of relative times) and the last event. Parts that
    /// share a clock share these times.
    times: Option<(u64, u64)>,
    /// The recording's clock, if times are converted to it.
    clock: Option<MediaClock>,
    reader: Reader,
    names: OtherNames,
    /// Whether manifests count the lost events of all sessions, once this was looked up.
    counts_losses: OnceLock<bool>,
}

/// The names in another session's manifest, if they replace the names in the trace itself.
pub(crate) type OtherNames = Option<Arc<SymbolTable>>;

/// Reads the names in the manifest at a path.
pub(crate) fn other_names(path: Option<&Path>) -> Result<OtherNames, Failure> {
    path.map(|path| Ok(Arc::new(open_names(path)?.into())))
        .transpose()
}

/// Opens a manifest to take names from.
pub(crate) fn open_names(path: &Path) -> Result<Manifest, Failure> {
    let failed = |error: &Error| Failure::Usage(error.to_string());
    let manifest = Manifest::open(path).map_err(|error| failed(&error))?;
    match manifest.problems.first() {
        Some(error) if manifest.is_unreadable() => Err(failed(error)),
        _ => Ok(manifest),
    }
}

#[derive(Debug)]
enum Reader {
    /// A process with all segments of its recording.
    Process(Segments),
    /// A thread's folder and its session, if any.
    Thread(Box<ThreadReader>, Option<Box<SessionReader>>),
    Index(Box<IndexReader>),
}

impl Part {
    /// Opens the traces at these paths. The inner error means that a thread or a file cannot be
    /// read. Takes function names from `names` or, without it, from the trace's own manifests.
    /// Converts times to `clock`.
    pub(crate) fn all(
        paths: &[PathBuf],
        names: &OtherNames,
        clock: Clock,
    ) -> Result<Result<Vec<Self>, Error>, Failure> {
        let mut sessions = Vec::new();
        let mut parts = Vec::new();
        for path in paths {
            let reader = match Target::of(path)? {
                Target::Session(path) => {
                    sessions.push(path);
                    continue;
                }
                Target::Sessions(paths) => {
                    sessions.extend(paths);
                    continue;
                }
                Target::Thread(path) => ThreadReader::open(&path).map(|thread| {
                    let session = session_around(&path).map(Box::new);
                    Reader::Thread(Box::new(thread), session)
                }),
                Target::File(path, FileKind::Index) | Target::OtherFile(path) => {
                    IndexReader::open(&path).map(|index| Reader::Index(Box::new(index)))
                }
                Target::File(path, FileKind::Detail) => {
                    let what = "details alone: calls and returns are in the index file next to it";
                    return Err(Failure::Usage(format!("{}: {what}", path.display())));
                }
            };
            match reader {
                Ok(reader) => parts.push(Self::new(path.clone(), reader, names)),
                Err(error) => return Ok(Err(error)),
            }
        }
        let lone = parts.iter().map(|part: &Self| &part.path);
        check_distinct(&sessions.iter().chain(lone).cloned().collect::<Vec<_>>())?;
        let processes = Segments::group(sessions);
        let share_clock = are_of_one_run(processes.iter().flatten());
        let first = parts.len();
        for paths in &processes {
            let segments = Segments::open(paths)?;
            tell_deleted(&segments);
            let path = paths.first().cloned().unwrap_or_default();
            parts.push(Self::new(path, Reader::Process(segments), names));
        }
        match clock {
            Clock::Media => {
                Self::use_recording(&mut parts)?;
                share_times(&mut parts);
            }
            Clock::Trace if share_clock => share_times(parts.get_mut(first..).unwrap_or_default()),
            Clock::Trace => {}
        }
        parts.iter().for_each(Self::tell_changes);
        Ok(Ok(parts))
    }

    /// Reports what recoveries changed without losing events. What they lost is a problem.
    fn tell_changes(&self) {
        for session in self.sessions() {
            let recovered = session.manifest().into_iter().flat_map(|it| &it.recovered);
            for change in recovered.filter(|damage| !damage.lost) {
                complain(format_args!("{}: {change}", session.path().display()));
            }
        }
    }

    /// Sets each part's clock to the clock of the recording to which its anchors refer.
    fn use_recording(parts: &mut [Self]) -> Result<(), Failure> {
        let clocks = media_clocks(parts.iter().map(|part| (&*part.path, part.sessions())))?;
        for (part, clock) in parts.iter_mut().zip(clocks) {
            let times = part
                .times
                .map(|times| media_times(&part.path, &clock, times));
            part.times = times.transpose()?;
            part.clock = Some(clock);
        }
        Ok(())
    }

    fn new(path: PathBuf, reader: Reader, names: &OtherNames) -> Self {
        Self {
            path,
            times: reader.times(),
            clock: None,
            reader,
            names: names.clone(),
            counts_losses: OnceLock::new(),
        }
    }

    /// Returns the origin of relative times: the first event's time.
    pub(crate) fn start_ns(&self) -> Option<u64> {
        self.times.map(|(start_ns, _)| start_ns)
    }

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
        self.start_ns().filter(|_| self.clock.is_none())
    }

    /// Returns the options for analyzing a time range.
    pub(crate) fn options(&self, from: Option<Time>, to: Option<Time>) -> Result<Options, Failure> {
        let (from_ns, to_ns) = Time::range(from, to, self.times)?;
        let options = Options::default().from_ns(from_ns).to_ns(to_ns);
        Ok(options.clock(self.clock.clone()))
    }

    /// Returns the timestamps in a range of times, or `None` for an empty range.
    pub(crate) fn timestamps(&self, (from_ns, to_ns): (u64, u64)) -> Option<(u64, u64)> {
        match &self.clock {
            Some(clock) => Some(clock.to_host_range(from_ns..=to_ns)?.into_inner()),
            None => Some((from_ns, to_ns)),
        }
    }

    /// Returns the length of an analysed time range within the trace, or `None` for the whole
    /// trace.
    pub(crate) fn range_ns(&self, options: &Options) -> Option<u64> {
        let (start_ns, end_ns) = self.times?;
        let (from_ns, to_ns) = (options.from_ns, options.to_ns);
        let range_ns = || end_ns.min(to_ns).saturating_sub(start_ns.max(from_ns));
        (from_ns > 0 || to_ns < u64::MAX).then(range_ns)
    }

    pub(crate) fn threads(&self) -> Threads<'_> {
        match &self.reader {
            Reader::Process(segments) => segments.into(),
            Reader::Thread(thread, session) => Threads::of_thread(thread, session.as_deref()),
            Reader::Index(index) => (&**index).into(),
        }
    }

    pub(crate) fn process(&self) -> Process<'_> {
        let process = match &self.reader {
            Reader::Process(segments) => Process::of_segments(segments),
            Reader::Thread(thread, session) => Process::of_thread(thread, session.as_deref()),
            Reader::Index(index) => Process::of_index(index),
        };
        let process = match &self.clock {
            Some(clock) => process.with_clock(clock.clone()),
            None => process,
        };
        match &self.names {
            Some(names) => process.with_symbols(names.symbols()),
            None => process,
        }
    }

    /// Describes the part in words.
    pub(crate) fn what(&self) -> String {
        match &self.reader {
            Reader::Process(segments) => match segments.sessions() {
                [_] => "session".to_owned(),
                sessions => Counted(sessions.len() as u64, "segment").to_string(),
            },
            Reader::Thread(..) => "thread".to_owned(),
            Reader::Index(_) => "index file".to_owned(),
        }
    }

    /// Returns the part's sessions, or the thread's session.
    pub(crate) fn sessions(&self) -> &[SessionReader] {
        match &self.reader {
            Reader::Process(segments) => segments.sessions(),
            Reader::Thread(_, session) => {
                session.as_deref().map(slice::from_ref).unwrap_or_default()
            }
            Reader::Index(_) => &[],
        }
    }

    /// Returns a function, with its name if a manifest contains one.
    pub(crate) fn function(&self, id: u64) -> Function<'_> {
        match (&self.names, &self.reader) {
            (Some(names), _) => names.symbols().function(id),
            (None, Reader::Process(segments)) => segments.function(id),
            (None, Reader::Thread(_, Some(session))) => session.symbols().function(id),
            (None, Reader::Thread(_, None) | Reader::Index(_)) => Function::new(id, None),
        }
    }

    /// Returns a thread's name from the last manifest that contains it.
    pub(crate) fn thread_name(&self, id: u32) -> Option<&str> {
        let manifests = self.sessions().iter().rev().filter_map(|it| it.manifest());
        let mut threads = manifests.flat_map(|it| &it.threads);
        threads.find_map(|it| it.name.as_deref().filter(|_| it.id == id))
    }

    /// Returns the manifest of the last session, or of the session that the thread belongs to.
    pub(crate) fn manifest(&self) -> Option<&Manifest> {
        self.sessions().last()?.manifest()
    }

    /// Returns the events that the tracer had not yet written when it ended: those of the last
    /// session that lacks any.
    pub(crate) fn unwritten(&self) -> Option<Missing> {
        let mut manifests = self.sessions().iter().rev().filter_map(|it| it.manifest());
        manifests.find_map(Manifest::unwritten)
    }

    /// Returns their number.
    pub(crate) fn unwritten_events(&self) -> Option<u64> {
        unwritten_events(self.unwritten())
    }

    /// Returns whether `totals` of a number of selected threads, or 0 for all, include all events
    /// that the tracer lost. Only manifests count them, and totals include a selected thread's only
    /// if its files were read.
    pub(crate) fn knows_losses(&self, totals: &Totals, threads: usize) -> bool {
        let sessions = self.sessions();
        let is_counted = |session: &SessionReader| {
            session.manifest().is_some_and(counts_losses) && !lost_manifest(session.path())
        };
        // A report by thread asks for each thread.
        let counts = || !sessions.is_empty() && sessions.iter().all(is_counted);
        *self.counts_losses.get_or_init(counts) && totals.threads >= threads as u64
    }

    /// Returns the events that the tracer lost in threads without files, over all segments.
    pub(crate) fn lost_events(&self) -> Option<Loss> {
        let lost = match &self.reader {
            Reader::Process(segments) => segments.lost_events(),
            Reader::Thread(..) | Reader::Index(_) => None,
        }?;
        Some(match &self.clock {
            Some(clock) => {
                let [first_ns, last_ns] =
                    [lost.first_ns, lost.last_ns].map(|ns| clock.to_media_ns_or_zero(ns));
                Loss::new(lost.count, first_ns, last_ns)
            }
            None => lost,
        })
    }

    /// Returns the problems of the sessions themselves, without the problems of single threads.
    pub(crate) fn problems(&self) -> Vec<Error> {
        match &self.reader {
            Reader::Process(segments) => segments.problems(),
            Reader::Thread(..) | Reader::Index(_) => Vec::new(),
        }
    }

    /// Returns the ids of the part's threads.
    fn thread_ids(&self) -> BTreeSet<u32> {
        match &self.reader {
            Reader::Process(segments) => segments
                .sessions()
                .iter()
                .flat_map(SessionReader::threads)
                .map(ThreadEntry::id)
                .collect(),
            Reader::Thread(thread, _) => [thread.id()].into(),
            Reader::Index(index) => [index.header().thread_id].into(),
        }
    }

    /// Returns the ids of the selected threads that this part contains, or of all its threads if
    /// `ids` is empty.
    pub(crate) fn selected(&self, ids: &[u32]) -> BTreeSet<u32> {
        let mut selected = self.thread_ids();
        selected.retain(|id| ids.is_empty() || ids.contains(id));
        selected
    }
}

impl Reader {
    /// Returns the times of the first and the last event across all threads.
    fn times(&self) -> Option<(u64, u64)> {
        let threads: Threads<'_> = match self {
            Self::Process(segments) => segments.into(),
            Self::Thread(_, Some(session)) => (&**session).into(),
            Self::Thread(thread, None) => (&**thread).into(),
            Self::Index(index) => (&**index).into(),
        };
        threads.time_range()
    }
}

/// Returns the number of unwritten events.
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

/// Sets the times of all parts to the times of the first and the last event overall.
fn share_times(parts: &mut [Part]) {
    let all = parts.iter().filter_map(|part| part.times).reduce(union);
    parts.iter_mut().for_each(|part| part.times = all);
}

/// Reports that none of the traces reaches into a range of times, as when a `+` was forgotten. The
/// times of a trace whose time goes back prove nothing: call this only if nothing was found.
pub(crate) fn tell_outside(parts: &[Part], (from_ns, to_ns): (u64, u64)) {
    let times = parts.iter().filter_map(|part| part.times);
    let all = times.clone().reduce(union);
    let is_inside = |(start_ns, end_ns)| start_ns <= to_ns && from_ns <= end_ns;
    if let Some(all) = all.filter(|_| !times.into_iter().any(is_inside)) {
        complain(format_args!("no event is in this range; {}", Extent(all)));
    }
}

/// Returns the smallest range of times that contains both.
pub(crate) fn union(one: (u64, u64), other: (u64, u64)) -> (u64, u64) {
    (one.0.min(other.0), one.1.max(other.1))
}

/// Reports how many segments the recording deleted, if it was set to keep only the last few.
pub(crate) fn tell_deleted(segments: &Segments) {
    let path = segments.sessions().first().map(SessionReader::path);
    if let (Some(path), Some(deleted)) = (path, segments.deleted()) {
        let deleted = match deleted.clone().count() {
            1 => "segment 1 of the recording is".to_owned(),
            _ => format!("segments 1 to {} of the recording are", deleted.end()),
        };
        complain(format_args!(
            "{}: {deleted} not in this trace: calls that were open at the start of this one have only their returns",
            path.display()
        ));
    }
}

/// Reports how many events of each part the tracer had not yet written when it ended.
pub(crate) fn tell_unwritten(parts: &[Part]) {
    for part in parts {
        if let Some(missing) = part.unwritten() {
            complain(format_args!("{}: {missing}", part.path.display()));
        }
    }
}

/// Reports the parts that have events but no names, if the files of their modules may contain the
/// names.
pub(crate) fn tell_unnamed(parts: &[Part]) {
    for part in parts.iter().filter(|part| part.names.is_none()) {
        let Some(session) = part.sessions().last() else {
            continue;
        };
        let mut manifests = part.sessions().iter().filter_map(|it| it.manifest());
        let has_names = manifests.any(|manifest| !manifest.symbols.is_empty());
        let is_unnamed = session.manifest().is_some_and(|manifest| {
            let mut modules = manifest.modules.iter();
            !has_names
                && modules.any(|it| it.function_offsets == Some(true))
                && part.reader.times().is_some()
        });
        if is_unnamed {
            let path = session.path().display();
            complain(format_args!(
                "{path}: functions have no names; `atf symbolize {path}` looks for them in the modules' files"
            ));
        }
    }
}

/// Rejects thread ids that no part contains.
pub(crate) fn check_threads(parts: &[Part], ids: &[u32]) -> Result<(), Failure> {
    let all: BTreeSet<u32> = parts.iter().flat_map(Part::thread_ids).collect();
    let Some(id) = ids.iter().find(|id| !all.contains(id)) else {
        return Ok(());
    };
    let mut names: Vec<_> = all.iter().take(NAMED).map(u32::to_string).collect();
    if all.len() > NAMED {
        names.push(format!("and {} more", all.len() - NAMED));
    }
    let names = match &names[..] {
        [] => "the trace has no threads".to_owned(),
        names => format!("threads: {}", names.join(", ")),
    };
    Err(Failure::Usage(format!("there is no thread {id} ({names})")))
}
