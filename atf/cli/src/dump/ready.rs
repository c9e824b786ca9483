//! Resolves threads, names and times before the first event is written.

use atf::Error;

use super::Dump;
use super::clocks::Clocks;
use super::filter::Filter;
use super::names::Names;
use super::trace::{ThreadPlace, Trace};
use crate::output::{Failure, complain};
use crate::text::Extent;

/// A trace that is ready to dump.
pub(crate) struct Ready<'a> {
    pub(crate) names: Names<'a>,
    pub(crate) filter: Filter<'a>,
    pub(crate) clocks: Clocks,
    /// The selected threads.
    pub(crate) threads: Vec<ThreadPlace>,
    /// The times of the first and the last event.
    times: Option<(u64, u64)>,
}

impl<'a> Ready<'a> {
    /// Prepares a trace. The inner error means that a trace that is a single file cannot be read.
    pub(crate) fn new(dump: &Dump<'a>, trace: &'a Trace) -> Result<Result<Self, Error>, Failure> {
        let names = Names::of(dump.symbols, trace)?;
        let clocks = Clocks::of(trace, dump.clock)?;
        let times = trace.times(&clocks)?;
        Filter::complain_of_unknown(dump, &names);
        let filter = Filter::new(dump, times, &names)?;
        let threads = match trace.threads(dump.threads) {
            Ok(threads) => threads,
            Err(Failure::Input(error)) => return Ok(Err(error)),
            Err(failure) => return Err(failure),
        };
        Ok(Ok(Self {
            names,
            filter,
            clocks,
            threads,
            times,
        }))
    }

    /// Returns the origin of times in text output, or `None` to show times unchanged: a
    /// recording's, or those of a trace without readable events.
    pub(crate) fn origin_ns(&self) -> Option<u64> {
        let start_ns = self.times.map(|(start_ns, _)| start_ns);
        start_ns.filter(|_| !self.clocks.is_media())
    }

    /// Reports why nothing was written.
    pub(crate) fn tell_nothing(&self) {
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
