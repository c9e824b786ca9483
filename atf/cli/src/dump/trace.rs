//! The threads of a trace, and the clock of each session.

use std::fmt;
use std::iter;
use std::ops::RangeInclusive;

use atf::session::ProcessName;
use atf::trace::{Process, Thread, ThreadFiles, Trace};

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

/// A thread of a trace. Its files may be unreadable.
#[derive(Debug)]
pub(crate) struct NamedThread<'t> {
    /// The number of its process's first session.
    pub(crate) session: u32,
    pub(crate) name: ThreadName,
    pub(crate) thread: Thread<'t>,
}

impl<'t> NamedThread<'t> {
    /// Returns the thread's files in each segment, with the number of the segment's session.
    pub(crate) fn files(&self) -> impl Iterator<Item = (u32, &ThreadFiles<'t>)> {
        let files = self.thread.files().iter();
        files.map(move |files| {
            let session = self.session.saturating_add(number(files.session()));
            (session, files)
        })
    }
}

/// Converts the number of a session.
pub(crate) fn number(session: usize) -> u32 {
    u32::try_from(session).unwrap_or(u32::MAX)
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

/// Returns the threads with these ids, or all if `ids` is empty.
pub(crate) fn threads<'t>(
    trace: &'t Trace,
    sessions: &Sessions<'_>,
    ids: &[u32],
) -> Result<Vec<NamedThread<'t>>, Failure> {
    let mut all = Vec::new();
    let mut before = 0;
    for process in trace.processes() {
        let session = number(before);
        all.extend(process.threads().into_iter().map(|thread| NamedThread {
            session,
            name: ThreadName {
                process: sessions.pid(session),
                id: thread.id(),
            },
            thread,
        }));
        before += process.sessions().len().max(1);
    }
    check_ids(ids, all.iter().map(|it| (it.name.id, it.name.to_string())))?;
    all.retain(|it| ids.is_empty() || ids.contains(&it.name.id));
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
