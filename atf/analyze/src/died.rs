//! Finds the minimum time for which calls were open when a process died.

use atf::trace::{Process, Thread};

use crate::unit::End;

/// The death of a process whose manifest names the signal that ended it.
pub(crate) struct Deaths {
    /// The position of the last session, and the time of the process's last event.
    end: Option<(usize, u64)>,
}

impl Deaths {
    pub(crate) fn from_process(process: &Process) -> Self {
        // Unwritten and lost events may have ended the calls.
        let has_died = process.manifest().is_some_and(|manifest| {
            let is_written = manifest.unwritten_events.unwrap_or(0) == 0;
            let is_kept = manifest.recovered.iter().all(|damage| !damage.lost);
            manifest.ended_by.is_some() && is_written && is_kept
        });
        let end = || {
            let (_, end_ns) = process.time_range()?;
            Some((process.sessions().len().checked_sub(1)?, end_ns))
        };
        let is_whole = !process.is_single_thread();
        Self {
            end: (is_whole && has_died).then(end).flatten(),
        }
    }

    /// Returns the time until which a thread's open calls lasted at least; `None` if they may have
    /// ended earlier, because events of the thread may be missing.
    pub(crate) fn until_ns(&self, thread: &Thread<'_>, end: &End<'_>) -> Option<u64> {
        let (last_session, end_ns) = self.end?;
        let is_complete = end.is_whole
            && end.completeness.has_verified_footer()
            && end.session() == last_session
            && thread
                .listed()
                .all(|it| it.cut.is_none() && it.lost_events.is_none());
        is_complete.then_some(end_ns)
    }
}
