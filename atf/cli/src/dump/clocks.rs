//! Converts the times in a dump to another clock.

use std::iter;
use std::ops::RangeInclusive;
use std::path::Path;
use std::slice;
use std::sync::Arc;

use atf::analyze::Threads;
use atf::clock::MediaClock;
use atf::session::Segments;

use super::trace::Trace;
use crate::clock::{Clock, media_clocks, media_times, no_anchors};
use crate::output::Failure;

/// The recordings' clocks to which times are converted, if any.
#[derive(Debug, Default)]
pub(crate) struct Clocks {
    /// The clocks of the trace's sessions, in order; empty to keep the trace's own times.
    of_sessions: Vec<Arc<MediaClock>>,
}

impl Clocks {
    /// Returns the clocks of a trace. Each process's clock comes from the anchors in all segments
    /// of that process.
    pub(crate) fn of(trace: &Trace, clock: Clock) -> Result<Self, Failure> {
        if clock == Clock::Trace {
            return Ok(Self::default());
        }
        let processes: Vec<(&Path, _)> = match trace {
            Trace::File(path) | Trace::Folder(path, None) => return Err(no_anchors(path)),
            Trace::Folder(path, Some(session)) => vec![(path, slice::from_ref(&**session))],
            Trace::Processes(processes) => {
                let sessions = processes.iter().map(Segments::sessions);
                let with_path = sessions.filter_map(|it| Some((it.first()?.path(), it)));
                with_path.collect()
            }
        };
        let clocks = media_clocks(processes.iter().copied())?.into_iter();
        let of_sessions = clocks
            .zip(&processes)
            .flat_map(|(clock, (_, sessions))| iter::repeat_n(Arc::new(clock), sessions.len()));
        Ok(Self {
            of_sessions: of_sessions.collect(),
        })
    }

    /// Returns whether times are converted to a recording's clock.
    pub(crate) fn is_media(&self) -> bool {
        !self.of_sessions.is_empty()
    }

    /// Converts a timestamp of the session with this index. Moves timestamps before the recording
    /// to the recording's start.
    pub(crate) fn time(&self, session: u32, ns: u64) -> u64 {
        match self.of_sessions.get(session as usize) {
            Some(clock) => clock.to_media_ns_or_zero(ns),
            None => ns,
        }
    }

    /// Converts a thread's first and last times. Neither may be before the start of the recording.
    pub(crate) fn times(
        &self,
        session: usize,
        path: &Path,
        times: (u64, u64),
    ) -> Result<(u64, u64), Failure> {
        match self.of_sessions.get(session) {
            Some(clock) => media_times(path, clock, times),
            None => Ok(times),
        }
    }

    /// Returns the timestamps that convert to these times in any session.
    pub(crate) fn timestamps(&self, times: &RangeInclusive<u64>) -> RangeInclusive<u64> {
        // These times select the whole trace: read and verify all of it. No event is before the
        // recording.
        if !self.is_media() || *times == (0..=u64::MAX) {
            return times.clone();
        }
        let clocks = self.of_sessions.iter();
        let all = clocks.filter_map(|clock| clock.to_host_range(times.clone()));
        let hull = all.reduce(|all, one| *all.start().min(one.start())..=*all.end().max(one.end()));
        hull.unwrap_or(RangeInclusive::new(1, 0))
    }
}

impl Trace {
    /// Returns the earliest and latest times of all readable threads. For a single thread, also
    /// considers the other threads of its session.
    pub(crate) fn times(&self, clocks: &Clocks) -> Result<Option<(u64, u64)>, Failure> {
        let sessions = self.sessions();
        if sessions.is_empty() {
            let index = self.open_file().ok();
            return Ok(index.and_then(|index| Threads::from(&index).time_range()));
        }
        let mut all: Option<(u64, u64)> = None;
        for (position, session) in sessions.into_iter().enumerate() {
            if let Some(times) = Threads::from(session).time_range() {
                let one = clocks.times(position, session.path(), times)?;
                all = Some(all.map_or(one, |all| (all.0.min(one.0), all.1.max(one.1))));
            }
        }
        Ok(all)
    }
}
