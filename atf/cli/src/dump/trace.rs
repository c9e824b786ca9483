//! The threads of a trace, and the clock of each session.

use std::fmt;
use std::iter;
use std::ops::RangeInclusive;

use atf::session::ProcessName;
use atf::trace::{Process, ThreadFiles, Trace};

use crate::output::Failure;
use crate::trace::check_ids;

/// A trace's processes by session: sessions are numbered across all processes. A thread or file on
/// its own counts as a session.
#[derive(Debug)]
pub(crate) struct Sessions<'t> {
    processes: Vec<&'t Process>,
    is_media: bool,
    /// The process ids, if there are several processes.
    pids: Vec<Option<u32>>,
}

/// A thread's id and, if there are several processes, its process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ThreadName {
    /// The process id, in a trace of several processes.
    pub(crate) process: Option<u32>,
    /// The id in the folder's name or, failing that, in the header.
    pub(crate) id: u32,
}

impl fmt::Display for ThreadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.process {
            Some(process) => f.pad(&format!("{process}/{}", self.id)),
            None => fmt::Display::fmt(&self.id, f),
        }
    }
}

/// A thread in a session. The thread may be unreadable.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ThreadPlace<'t> {
    /// The number of the thread's session.
    pub(crate) session: u32,
    /// The thread's name.
    pub(crate) name: ThreadName,
    pub(crate) files: ThreadFiles<'t>,
    /// The number of the thread's events in earlier segments.
    pub(crate) first_seq: u64,
    /// Whether this is the thread's first segment.
    pub(crate) is_first: bool,
}

impl<'t> Sessions<'t> {
    pub(crate) fn new(trace: &'t Trace) -> Self {
        let same = |process: &'t Process| {
            let count = process.sessions().len().max(1);
            iter::repeat_n(process, count)
        };
        let processes: Vec<_> = trace.processes().iter().flat_map(same).collect();
        let is_several = trace.processes().len() > 1;
        let pid = |process: &&Process| process.pid().filter(|_| is_several);
        Self {
            is_media: processes.iter().any(|it| it.clock().is_some()),
            pids: processes.iter().map(pid).collect(),
            processes,
        }
    }

    /// Returns a session's process.
    pub(crate) fn process(&self, session: u32) -> Option<&'t Process> {
        self.processes.get(session as usize).copied()
    }

    /// Returns the process id of a session, if there are several processes.
    #[inline]
    pub(crate) fn pid(&self, session: u32) -> Option<u32> {
        self.pids.get(session as usize).copied().flatten()
    }

    /// Returns whether times are converted to a recording's clock.
    pub(crate) fn is_media(&self) -> bool {
        self.is_media
    }

    /// Converts a timestamp of a session. Moves timestamps before the recording to the recording's
    /// start.
    #[inline]
    pub(crate) fn time(&self, session: u32, ns: u64) -> u64 {
        match self.process(session) {
            Some(process) if self.is_media => process.time(ns),
            _ => ns,
        }
    }

    /// Returns the timestamps that convert to these times in any session.
    pub(crate) fn timestamps(&self, times: &RangeInclusive<u64>) -> RangeInclusive<u64> {
        // These times select the entire trace: read and verify all of it. No event is before the
        // recording.
        if *times == (0..=u64::MAX) {
            return times.clone();
        }
        let all = self.processes.iter();
        let all = all.filter_map(|process| process.timestamps(times.clone()));
        let hull = all.reduce(|all, one| *all.start().min(one.start())..=*all.end().max(one.end()));
        hull.unwrap_or(RangeInclusive::new(1, 0))
    }
}

/// Returns the threads with these ids, or all if `ids` is empty. The segments of a thread are
/// adjacent.
pub(crate) fn threads<'t>(
    trace: &'t Trace,
    sessions: &Sessions<'_>,
    ids: &[u32],
) -> Result<Vec<ThreadPlace<'t>>, Failure> {
    let mut all = Vec::new();
    let mut before = 0;
    for process in trace.processes() {
        for thread in process.threads() {
            let mut first_seq = 0_u64;
            for (number, files) in thread.files().iter().enumerate() {
                let session = u32::try_from(before + files.session()).unwrap_or(u32::MAX);
                all.push(ThreadPlace {
                    session,
                    name: ThreadName {
                        process: sessions.pid(session),
                        id: thread.id(),
                    },
                    files: *files,
                    first_seq,
                    is_first: number == 0,
                });
                if thread.files().len() > 1 {
                    // A segment that cannot be opened is reported when its events are read.
                    let index = files.open_index();
                    let count = index.map_or(0, |index| index.event_count());
                    first_seq = first_seq.saturating_add(count);
                }
            }
        }
        before += process.sessions().len().max(1);
    }
    let firsts = all.iter().filter(|place| place.is_first);
    check_ids(ids, firsts.map(|it| (it.name.id, it.name.to_string())))?;
    all.retain(|place| ids.is_empty() || ids.contains(&place.name.id));
    Ok(all)
}

/// Returns whether these are processes that share a clock and have different ids. A program started
/// by `exec` keeps the id of its predecessor.
pub(crate) fn is_readable_as_one(trace: &Trace) -> bool {
    let name = |process: &Process| ProcessName::from_path(process.sessions().first()?.path());
    let is_first = |process: &Process| name(process).is_some_and(|name| name.program == 1);
    match trace.processes() {
        [] | [_] => true,
        processes => processes.iter().all(is_first) && trace.is_one_run(),
    }
}
