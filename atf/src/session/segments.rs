//! The segments of a process's recording, read as one trace.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use super::{ProcessName, SessionReader, ThreadEntry};
use crate::error::{Error, ErrorKind, Result};
use crate::manifest::{Loss, ManifestThread};
use crate::symbols::Function;

/// A reader for a process: its session, or the [segments](crate::record::Segment) of its recording
/// in order.
///
/// A thread's events and open calls continue from one segment to the next. Calls do not continue
/// across a gap: a place where a segment between two others is missing or lacks the thread.
///
/// ```
/// use atf::session::Segments;
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
/// use atf::analyze;
///
/// // Function 7 was called in `pid_42` and returned in `pid_42_segment_000002`.
/// let process = Segments::open([first, second])?;
/// let functions = analyze::functions(&process, &analyze::Options::default())?;
/// assert_eq!(functions.functions[0].times.total_ns, 150);
/// # Ok::<(), atf::Error>(())
/// ```
#[derive(Debug)]
pub struct Segments {
    sessions: Vec<SessionReader>,
}

impl From<SessionReader> for Segments {
    fn from(session: SessionReader) -> Self {
        let sessions = vec![session];
        Self { sessions }
    }
}

impl Segments {
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
            let real = fs::canonicalize(session.path());
            let at = |error| Error::io(error).with_path(Some(session.path()));
            if seen.insert(real.map_err(at)?) {
                sessions.push(session);
            }
        }
        sessions.sort_by_key(|session| ProcessName::of(session.path()));
        Ok(Self { sessions })
    }

    /// Groups the paths of sessions by process: segments of the same process in the same folder
    /// form a group, in their order. Groups are in the order of their first paths.
    #[must_use]
    pub fn group(paths: Vec<PathBuf>) -> Vec<Vec<PathBuf>> {
        let mut groups: Vec<Vec<PathBuf>> = Vec::new();
        let mut places = BTreeMap::new();
        for path in paths {
            let process = ProcessName::of(&path)
                .map(|name| (path.parent().map(Path::to_path_buf), name.pid, name.program));
            let next = groups.len();
            let place = process.map_or(next, |process| *places.entry(process).or_insert(next));
            match groups.get_mut(place) {
                Some(group) => group.push(path),
                None => groups.push(vec![path]),
            }
        }
        for group in &mut groups {
            group.sort_by_key(|path| ProcessName::of(path));
            group.dedup();
        }
        groups
    }

    /// Returns the sessions in order.
    #[must_use]
    pub fn sessions(&self) -> &[SessionReader] {
        &self.sessions
    }

    /// Returns the numbers of the deleted segments before the first one. Returns `None` if no
    /// segment was deleted, if the folder's name has no number, or if this is a
    /// [cut](crate::rewrite::cut), which has no segments before its range. Recordings that
    /// [keep](crate::record::Segment::keep) only some segments delete old ones.
    #[must_use]
    pub fn deleted(&self) -> Option<RangeInclusive<u32>> {
        let session = self.sessions.first()?;
        let first = ProcessName::of(session.path())?;
        let mut threads = session.manifest().into_iter().flat_map(|it| &it.threads);
        let is_cut = threads.any(|thread| thread.cut.is_some());
        (first.segment > 1 && !is_cut).then(|| 1..=first.segment.saturating_sub(1))
    }

    /// Returns the problems with the sessions themselves, and an error for each gap between two
    /// segments.
    #[must_use]
    pub fn problems(&self) -> Vec<Error> {
        problems(&self.sessions)
    }

    /// Returns a function with its name, from the last manifest that has it.
    #[must_use]
    pub fn function(&self, function_id: u64) -> Function<'_> {
        let sessions = self.sessions.iter().rev();
        let functions = sessions.map(|session| session.symbols().function(function_id));
        let named = functions.clone().find(|function| function.name.is_some());
        let found = named.or_else(|| functions.clone().next());
        found.unwrap_or_else(|| Function::new(function_id, None))
    }

    /// Returns the lost events of no listed thread, and those of listed threads that have no
    /// readable files, over all segments. Opens the listed threads that lost events.
    #[must_use]
    pub fn lost_events(&self) -> Option<Loss> {
        lost_events(&self.sessions)
    }

    /// Returns the threads, sorted by id, each with its folders in the segments.
    #[must_use]
    pub fn threads(&self) -> Vec<ThreadSegments<'_>> {
        threads(&self.sessions)
    }
}

/// A thread in the segments of its process.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ThreadSegments<'a> {
    /// The id in the names of the thread's folders.
    pub id: u32,
    /// The thread's folders, in the order of the segments.
    pub segments: Vec<ThreadSegment<'a>>,
}

/// A thread's folder in a segment.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ThreadSegment<'a> {
    /// The session's position among the process's sessions.
    pub session: usize,
    /// The position among the session's threads.
    pub position: usize,
    /// The thread.
    pub entry: &'a ThreadEntry,
    /// The thread's entry in the segment's manifest.
    pub listed: Option<&'a ManifestThread>,
    /// Whether a segment, or the thread's folder in one, is missing between the previous folder and
    /// this one.
    pub is_after_gap: bool,
}

/// Returns the problems with a process's sessions, and an error for each gap between two of them.
pub(crate) fn problems(sessions: &[SessionReader]) -> Vec<Error> {
    let gap = |pair: &[SessionReader]| match pair {
        [before, after] => gap(before, after),
        _ => None,
    };
    let gaps = sessions.windows(2).filter_map(gap);
    let problems = sessions.iter().flat_map(SessionReader::problems);
    problems.chain(gaps).collect()
}

/// Returns whether a problem with a session concerns any of these threads. A folder without an id
/// cannot belong to a selected thread.
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

/// Returns the lost events of threads without readable files; see [`Segments::lost_events`].
pub(crate) fn lost_events(sessions: &[SessionReader]) -> Option<Loss> {
    let manifests = sessions.iter().filter_map(SessionReader::manifest);
    let of_none = manifests.filter_map(|manifest| manifest.lost_events);
    let threads = threads(sessions);
    // Several folders may have the same id.
    let threads = threads.chunk_by(|one, next| one.id == next.id);
    let of_threads = threads.filter_map(|folders| {
        let listed = folders.first()?.segments.iter();
        let lost = listed.filter_map(|segment| segment.listed?.lost_events);
        let lost = lost.reduce(Loss::plus)?;
        let mut segments = folders.iter().flat_map(|folder| &folder.segments);
        let is_read = segments.any(|segment| segment.entry.open_index().is_ok());
        (!is_read).then_some(lost)
    });
    of_none.chain(of_threads).reduce(Loss::plus)
}

/// Returns the threads of a process's sessions, sorted by id. If several folders in a session have
/// the same id, such as `thread_1` and `thread_01`, each counts as a thread.
pub(crate) fn threads(sessions: &[SessionReader]) -> Vec<ThreadSegments<'_>> {
    let mut threads: BTreeMap<(u32, usize), ThreadSegments<'_>> = BTreeMap::new();
    for (number, session) in sessions.iter().enumerate() {
        let before = number
            .checked_sub(1)
            .and_then(|before| sessions.get(before));
        let is_after_gap = before.is_some_and(|before| gap(before, session).is_some());
        let listed = session.manifest().map(|manifest| &manifest.threads);
        let listed: BTreeMap<u32, &ManifestThread> = listed
            .into_iter()
            .flatten()
            .map(|listed| (listed.id, listed))
            .collect();
        let mut same_id = (None, 0_usize);
        for (position, entry) in session.threads().iter().enumerate() {
            let id = entry.id();
            same_id = match same_id {
                (Some(before), count) if before == id => (Some(id), count.saturating_add(1)),
                _ => (Some(id), 0),
            };
            let thread = threads.entry((id, same_id.1));
            let thread = thread.or_insert_with(|| ThreadSegments {
                id,
                segments: Vec::new(),
            });
            let before = thread.segments.last().map(|before| before.session);
            thread.segments.push(ThreadSegment {
                session: number,
                position,
                entry,
                listed: listed.get(&id).copied(),
                is_after_gap: before
                    .is_some_and(|before| is_after_gap || before.saturating_add(1) != number),
            });
        }
    }
    threads.into_values().collect()
}

/// Returns an error if there are segments missing between these two.
fn gap(before: &SessionReader, after: &SessionReader) -> Option<Error> {
    let [before, name] = [before, after].map(|session| ProcessName::of(session.path()));
    let (first, next) = (before?.segment.saturating_add(1), name?.segment);
    let last = next.checked_sub(1).filter(|last| *last >= first)?;
    let kind = ErrorKind::SegmentsMissing { first, last };
    Some(Error::new(kind).with_path(Some(after.path())))
}
