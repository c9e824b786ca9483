//! A traced process: its session, or the segments of its recording.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::thread::{Files, Place, Thread, ThreadFiles};
use super::times::on_clock;
use crate::clock::{MediaClock, MediaClockError};
use crate::error::{Error, ErrorKind, Result, at};
use crate::index::IndexReader;
use crate::manifest::{Damage, Loss, LossKind, Losses, Manifest, ManifestThread, Missing};
use crate::session::{ProcessName, SessionReader, ThreadEntry};
use crate::symbols::{Function, SymbolTable};
use crate::thread::ThreadReader;

/// A traced process: its session, or the segments of its recording in order, which are read as one. A
/// thread's folder or an index file that was opened alone is also treated as a process.
///
/// A thread's events and open calls continue from one segment to the next. Calls do not continue
/// across a gap: a place where a segment between two others is missing or does not contain the
/// thread.
///
/// A clone is cheap, because it shares everything with the original.
///
/// ```
/// use atf::trace::Process;
/// # let folder = tempfile::tempdir().unwrap();
/// # let first = folder.path().join("pid_42");
/// # let second = folder.path().join("pid_42_segment_000002");
/// # for (path, timestamp_ns, kind) in [(&first, 100, atf::EventKind::CALL), (&second, 250, atf::EventKind::RETURN)] {
/// #     let writer = atf::write::SessionWriter::create(path, &Default::default())?;
/// #     let mut thread = writer.thread(0)?;
/// #     thread.write(&atf::write::Event::new(timestamp_ns, 7, kind, 1))?;
/// #     thread.finalize()?;
/// #     writer.finalize()?;
/// # }
///
/// // Function 7 was called in `pid_42` and returned in `pid_42_segment_000002`.
/// let process = Process::open([first, second])?;
/// let [thread] = &process.threads()[..] else { panic!("a thread") };
/// assert_eq!(thread.files().len(), 2);
/// # Ok::<(), atf::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Process {
    /// The sessions in order; for a thread's folder, the session that it belongs to, if any.
    sessions: Vec<SessionReader>,
    /// The thread's folder or index file, if it was opened on its own.
    alone: Option<Files>,
    /// The names that replace those in the process's own manifests.
    names: Option<Arc<SymbolTable>>,
    /// The clock of a recording, if times are converted to it.
    clock: Option<Arc<MediaClock>>,
}

impl From<SessionReader> for Process {
    fn from(session: SessionReader) -> Self {
        Self::new(vec![session], None)
    }
}

impl From<&SessionReader> for Process {
    fn from(session: &SessionReader) -> Self {
        session.clone().into()
    }
}

impl From<IndexReader> for Process {
    fn from(index: IndexReader) -> Self {
        Self::new(Vec::new(), Some(Files::File(Arc::new(index))))
    }
}

impl From<&Self> for Process {
    fn from(process: &Self) -> Self {
        process.clone()
    }
}

impl Process {
    const fn new(sessions: Vec<SessionReader>, alone: Option<Files>) -> Self {
        Self {
            sessions,
            alone,
            names: None,
            clock: None,
        }
    }

    /// Opens the sessions of a process, and orders them by their folders' [names](ProcessName). A
    /// session is read once even if several paths lead to it.
    ///
    /// # Errors
    ///
    /// The errors of [`SessionReader::open`].
    pub fn open(paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Result<Self> {
        let mut sessions = Vec::new();
        let mut seen = BTreeSet::new();
        for path in paths {
            let session = SessionReader::open(path)?;
            let real = fs::canonicalize(session.path()).map_err(at(session.path()))?;
            if seen.insert(real) {
                sessions.push(session);
            }
        }
        sessions.sort_by_key(|session| ProcessName::from_path(session.path()));
        Ok(Self::new(sessions, None))
    }

    /// Opens a thread's folder. Names, losses and the times of the whole trace come from the session
    /// that contains the folder, if any.
    ///
    /// # Errors
    ///
    /// The errors of [`ThreadReader::open`].
    pub fn of_thread(folder: impl AsRef<Path>) -> Result<Self> {
        let folder = folder.as_ref();
        let id = ThreadReader::open(folder)?.id();
        let session = SessionReader::around(folder).into_iter().collect();
        let alone = Files::Folder(ThreadEntry::alone(id, folder));
        Ok(Self::new(session, Some(alone)))
    }

    /// Groups the paths of sessions by process: segments of the same process in the same folder
    /// form a group, in their order. Groups are in the order of their first paths.
    #[must_use]
    pub fn group(paths: Vec<PathBuf>) -> Vec<Vec<PathBuf>> {
        let mut groups: Vec<Vec<PathBuf>> = Vec::new();
        let mut places = BTreeMap::new();
        for path in paths {
            let process = ProcessName::from_path(&path)
                .map(|name| (path.parent().map(Path::to_path_buf), name.pid, name.program));
            let next = groups.len();
            let place = process.map_or(next, |process| *places.entry(process).or_insert(next));
            match groups.get_mut(place) {
                Some(group) => group.push(path),
                None => groups.push(vec![path]),
            }
        }
        for group in &mut groups {
            group.sort_by_key(|path| ProcessName::from_path(path));
            group.dedup();
        }
        groups
    }

    /// Uses function names from another manifest instead of the process's own.
    #[must_use]
    pub fn with_names(mut self, names: Arc<SymbolTable>) -> Self {
        self.names = Some(names);
        self
    }

    /// Converts times to the clock of a recording. Events before the recording have time 0.
    #[must_use]
    pub fn with_clock(mut self, clock: Option<MediaClock>) -> Self {
        self.clock = clock.map(Arc::new);
        self
    }

    /// Returns the path: of a thread's folder, of an index file, or of the first session. It is
    /// empty for a file that was not opened by path.
    #[must_use]
    pub fn path(&self) -> &Path {
        let path = match &self.alone {
            Some(Files::Folder(entry)) => Some(entry.path()),
            Some(Files::File(index)) => index.input.path(),
            None => self.sessions.first().map(SessionReader::path),
        };
        path.unwrap_or(Path::new(""))
    }

    /// Returns the sessions in order. For a thread's folder, this is the session that contains it.
    #[must_use]
    pub fn sessions(&self) -> &[SessionReader] {
        &self.sessions
    }

    fn manifests(&self) -> impl DoubleEndedIterator<Item = &Manifest> + Clone {
        self.sessions.iter().filter_map(SessionReader::manifest)
    }

    /// Returns whether this is a thread's folder or an index file rather than a whole process.
    #[must_use]
    pub const fn is_single_thread(&self) -> bool {
        self.alone.is_some()
    }

    /// Returns whether this is an index file that was opened without its folder.
    #[must_use]
    pub const fn is_single_file(&self) -> bool {
        matches!(self.alone, Some(Files::File(_)))
    }

    /// Returns whether the folders show that another process was recorded in the same run, on the
    /// same clock: both are `pid_…`, side by side.
    #[must_use]
    pub fn is_of_run_of(&self, other: &Self) -> bool {
        let place = |process: &Self| {
            let path = process.path();
            let place = ProcessName::from_path(path).and(path.parent());
            let place = place.filter(|_| process.alone.is_none());
            place.map(Path::to_path_buf)
        };
        place(self).is_some() && place(self) == place(other)
    }

    /// Returns the threads, sorted by id, each with its files in the segments. If several folders in
    /// a session have the same id, such as `thread_1` and `thread_01`, each counts as a thread.
    #[must_use]
    pub fn threads(&self) -> Vec<Thread<'_>> {
        let Some(alone) = &self.alone else {
            return self.threads_of_sessions();
        };
        let listed = match alone {
            Files::Folder(entry) => self.manifests().find_map(|it| it.thread(entry.id())),
            Files::File(_) => None,
        };
        vec![Thread::new(
            self.clock(),
            ThreadFiles::new(alone.place(), listed),
        )]
    }

    fn threads_of_sessions(&self) -> Vec<Thread<'_>> {
        let mut threads: BTreeMap<(u32, usize), Thread<'_>> = BTreeMap::new();
        let mut before: Option<&SessionReader> = None;
        for (number, session) in self.sessions.iter().enumerate() {
            let is_after_gap = before.is_some_and(|before| gap(before, session).is_some());
            before = Some(session);
            let listed = session.manifest().into_iter().flat_map(|it| &it.threads);
            let listed: BTreeMap<u32, &ManifestThread> = listed.map(|it| (it.id, it)).collect();
            for (position, entry) in session.threads().iter().enumerate() {
                let id = entry.id();
                let earlier = session.threads().iter().take(position).rev();
                let same_id = earlier.take_while(|earlier| earlier.id() == id).count();
                let files = ThreadFiles {
                    session: number,
                    position,
                    is_after_gap,
                    ..ThreadFiles::new(Place::Folder(entry), listed.get(&id).copied())
                };
                let thread = threads.entry((id, same_id));
                thread
                    .and_modify(|thread| thread.continue_in(files))
                    .or_insert_with(|| Thread::new(self.clock(), files));
            }
        }
        threads.into_values().collect()
    }

    /// Returns the process id, from the name of its folder: 42 for `pid_42`, and for `pid_42_2` and
    /// `pid_42_segment_000002`.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        Some(ProcessName::from_path(self.sessions.first()?.path())?.pid)
    }

    /// Returns a function with its name, from the last manifest that has it.
    #[must_use]
    pub fn function(&self, function_id: u64) -> Function<'_> {
        if let Some(names) = &self.names {
            return names.symbols().function(function_id);
        }
        let sessions = self.sessions.iter().rev();
        let functions = sessions.map(|session| session.symbols().function(function_id));
        let named = functions.clone().find(|function| function.name.is_some());
        let found = named.or_else(|| functions.clone().next());
        found.unwrap_or_else(|| Function::new(function_id, None))
    }

    /// Returns the ids of all functions that the manifests list, in ascending order.
    #[must_use]
    pub fn function_ids(&self) -> BTreeSet<u64> {
        let ids = |it: &Manifest| -> Vec<u64> {
            let symbols = it.symbols.iter();
            symbols.map(|symbol| symbol.function_id).collect()
        };
        match &self.names {
            Some(names) => ids(names.manifest()).into_iter().collect(),
            None => self.manifests().flat_map(ids).collect(),
        }
    }

    /// Returns whether the names come from another manifest.
    #[must_use]
    pub const fn has_other_names(&self) -> bool {
        self.names.is_some()
    }

    /// Returns a thread's name, from the last manifest that has one.
    #[must_use]
    pub fn thread_name(&self, id: u32) -> Option<&str> {
        let mut listed = self.manifests().rev().filter_map(|it| it.thread(id));
        listed.find_map(|thread| thread.name.as_deref())
    }

    /// Returns the manifest of the last session, or of the session that contains the thread.
    #[must_use]
    pub fn manifest(&self) -> Option<&Manifest> {
        self.sessions.last()?.manifest()
    }

    /// Returns the recording's clock to which times are converted; `None` for the trace's own.
    #[must_use]
    pub fn clock(&self) -> Option<&MediaClock> {
        self.clock.as_deref()
    }

    /// Returns the clock of the sound or screen recording to which the timing anchors refer.
    ///
    /// # Errors
    ///
    /// If there are no anchors, if they refer to several recordings, or if events begin before the
    /// recording, because times cannot be negative.
    pub fn media_clock(&self) -> Result<MediaClock, MediaClockError> {
        let anchors = self
            .manifests()
            .flat_map(|it| it.timing_anchors.iter().copied());
        let clock = MediaClock::new(&anchors.collect::<Vec<_>>())?;
        if let Some((start_ns, _)) = self.timestamp_range() {
            clock.start_ns(start_ns)?;
        }
        Ok(clock)
    }

    /// Converts a timestamp to the process's clock. Moves times before the recording to its start.
    #[inline]
    #[must_use]
    pub fn time(&self, timestamp_ns: u64) -> u64 {
        on_clock(self.clock(), timestamp_ns)
    }

    /// Returns the timestamps that convert to these times; `None` if none does.
    #[must_use]
    pub fn timestamps(&self, times: RangeInclusive<u64>) -> Option<RangeInclusive<u64>> {
        match &self.clock {
            Some(clock) => clock.to_host_range(times),
            None => Some(times),
        }
    }

    /// Returns the earliest and the latest time on the process's clock, in nanoseconds; `None` if no
    /// readable thread has events. For a thread's folder, considers all threads of its session.
    #[must_use]
    pub fn time_range(&self) -> Option<(u64, u64)> {
        let (start_ns, end_ns) = self.timestamp_range()?;
        Some((self.time(start_ns), self.time(end_ns)))
    }

    fn timestamp_range(&self) -> Option<(u64, u64)> {
        let threads = if self.sessions.is_empty() {
            self.threads()
        } else {
            self.threads_of_sessions()
        };
        let files = threads.iter().flat_map(Thread::files);
        let times = files.filter_map(|files| files.open_index().ok()?.corrected_time_range());
        times.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)))
    }

    /// Returns what the tracer lost in threads without readable files, listed or not, over all
    /// segments; nothing for a single thread. Opens the listed threads that lost something.
    #[must_use]
    pub fn losses_without_files(&self) -> Losses {
        if self.is_single_thread() {
            return Losses::default();
        }
        let of_none = self.manifests().map(Manifest::losses);
        let threads = self.threads();
        // Several folders may have the same id.
        let threads = threads.chunk_by(|one, next| one.id() == next.id());
        let of_threads = threads.filter_map(|folders| {
            let listed = folders.first()?.listed();
            // The details of lost events are not counted.
            let of_thread = listed.filter_map(|it| it.losses().get(LossKind::Events));
            let lost = of_thread.reduce(Loss::plus)?;
            let mut files = folders.iter().flat_map(Thread::files);
            let is_read = files.any(|files| files.open_index().is_ok());
            (!is_read).then(|| Losses::default().with(LossKind::Events, Some(lost)))
        });
        let all = of_none
            .chain(of_threads)
            .fold(Losses::default(), Losses::plus);
        all.with_times(|ns| self.time(ns))
    }

    /// Returns the events that the tracer had not yet written when it ended: those of the last
    /// session in which any are missing.
    #[must_use]
    pub fn unwritten(&self) -> Option<Missing> {
        self.manifests().rev().find_map(Manifest::unwritten)
    }

    /// Returns what recoveries changed without losing events. What they lost is a
    /// [problem](Self::problems).
    pub fn changes(&self) -> impl Iterator<Item = &Damage> {
        self.manifests().flat_map(Manifest::changes)
    }

    /// Returns the numbers of the deleted segments before the first one. Returns `None` if no
    /// segment was deleted, if the folder's name has no number, or if this is a
    /// [cut](crate::rewrite::cut), which has no segments before its range. Recordings that keep only
    /// some segments delete old ones.
    #[must_use]
    pub fn deleted(&self) -> Option<RangeInclusive<u32>> {
        let session = self.sessions.first().filter(|_| self.alone.is_none())?;
        let first = ProcessName::from_path(session.path())?;
        let mut threads = session.manifest().into_iter().flat_map(|it| &it.threads);
        let is_cut = threads.any(|thread| thread.cut.is_some());
        (first.segment > 1 && !is_cut).then(|| 1..=first.segment.saturating_sub(1))
    }

    /// Returns the problems with the sessions themselves, and an error for each gap between two
    /// segments. For a thread's folder, returns what recoveries lost in the thread.
    #[must_use]
    pub fn problems(&self) -> Vec<Error> {
        if let Some(alone) = &self.alone {
            let Files::Folder(entry) = alone else {
                return Vec::new();
            };
            let sessions = self.sessions.iter();
            return sessions.flat_map(|it| it.lost_in(entry.id())).collect();
        }
        let gap = |pair: &[SessionReader]| match pair {
            [before, after] => gap(before, after),
            _ => None,
        };
        let gaps = self.sessions.windows(2).filter_map(gap);
        let problems = self.sessions.iter().flat_map(SessionReader::problems);
        problems.chain(gaps).collect()
    }

    /// Returns the [problems](Self::problems) that concern any of these threads, or all problems if
    /// `threads` is empty. A folder without an id cannot belong to a selected thread.
    #[must_use]
    pub fn problems_of(&self, threads: &BTreeSet<u32>) -> Vec<Error> {
        let mut problems = self.problems();
        if !threads.is_empty() && !self.is_single_thread() {
            problems.retain(|problem| concerns(problem, threads));
        }
        problems
    }
}

/// Returns whether a problem with a session concerns any of these threads.
pub(crate) fn concerns(problem: &Error, threads: &BTreeSet<u32>) -> bool {
    match problem.kind() {
        ErrorKind::NoThreadId => false,
        ErrorKind::LostInRecovery {
            thread: Some(thread),
            ..
        } => threads.contains(thread),
        _ => true,
    }
}

/// Returns an error if there are segments missing between these two.
fn gap(before: &SessionReader, after: &SessionReader) -> Option<Error> {
    let [before, name] = [before, after].map(|session| ProcessName::from_path(session.path()));
    let (first, next) = (before?.segment.saturating_add(1), name?.segment);
    let last = next.checked_sub(1).filter(|last| *last >= first)?;
    let kind = ErrorKind::SegmentsMissing { first, last };
    Some(Error::new(kind).with_path(Some(after.path())))
}
