//! Resolves threads, names and times before the first event is written.

use atf::trace::Trace;

use super::Dump;
use super::filter::Filter;
use super::names::Names;
use super::trace::{NamedThread, Sessions, threads};
use crate::output::{Failure, complain};
use crate::text::Extent;

/// A trace that is ready to dump.
pub(crate) struct Ready<'a> {
    pub(crate) names: Names<'a>,
    pub(crate) filter: Filter<'a>,
    pub(crate) sessions: Sessions<'a>,
    /// The selected threads.
    pub(crate) threads: Vec<NamedThread<'a>>,
    /// The times of the first and the last event.
    times: Option<(u64, u64)>,
}

impl<'a> Ready<'a> {
    pub(crate) fn new(dump: &'a Dump, trace: &'a Trace) -> Result<Self, Failure> {
        let names = Names::from_trace(trace);
        let times = trace.time_range();
        Filter::complain_of_unknown(dump, &names);
        let filter = Filter::new(dump, times, &names)?;
        let sessions = Sessions::new(trace);
        Ok(Self {
            threads: threads(trace, &sessions, &dump.threads)?,
            names,
            filter,
            sessions,
            times,
        })
    }

    /// Returns the origin of times in text output, or `None` to show times unchanged: times on a
    /// recording's clock, or of a trace without readable events.
    pub(crate) fn origin_ns(&self) -> Option<u64> {
        let start_ns = self.times.map(|(start_ns, _)| start_ns);
        start_ns.filter(|_| !self.sessions.is_media())
    }

    /// Reports why nothing was written.
    pub(crate) fn report_nothing(&self) {
        if self.filter.admits_none() {
            // The patterns without a match were already reported.
            return;
        }
        match self.times {
            None => complain("no events were found"),
            Some(times) => complain(format_args!("no event matches; {}", Extent(times))),
        }
    }
}
