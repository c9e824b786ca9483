//! What is settled before the first event is written: threads, names, times.

use atf::Error;

use super::Dump;
use super::filter::Filter;
use super::names::Names;
use super::trace::{ThreadPlace, Trace};
use crate::output::{Failure, complain};
use crate::text::{Seconds, Since};

/// A trace that was looked at.
pub(crate) struct Ready<'a> {
    pub(crate) names: Names<'a>,
    pub(crate) filter: Filter<'a>,
    /// The threads that are asked for.
    pub(crate) threads: Vec<ThreadPlace>,
    /// The first and the last time.
    times: Option<(u64, u64)>,
}

impl<'a> Ready<'a> {
    /// Looks at a trace. The inner error is one of the only file there is.
    pub(crate) fn new(dump: &Dump<'a>, trace: &'a Trace) -> Result<Result<Self, Error>, Failure> {
        let names = Names::of(dump.symbols, trace)?;
        let times = trace.times();
        Filter::complain_of_unknown(dump, &names);
        let filter = Filter::new(dump, times.map(|(start_ns, _)| start_ns), &names)?;
        let threads = match trace.threads(dump.threads) {
            Ok(threads) => threads,
            Err(Failure::Input(error)) => return Ok(Err(error)),
            Err(failure) => return Err(failure),
        };
        Ok(Ok(Self {
            names,
            filter,
            threads,
            times,
        }))
    }

    /// The time from which others are told.
    pub(crate) fn start_ns(&self) -> u64 {
        self.times.map_or(0, |(start_ns, _)| start_ns)
    }

    /// Says why nothing was written.
    pub(crate) fn tell_nothing(&self) {
        if self.filter.admits_none() {
            // That was said of each pattern.
            return;
        }
        match self.times {
            None => complain("there are no events"),
            Some((start_ns, end_ns)) => {
                let (start, end) = (Seconds(start_ns), Seconds(end_ns));
                let time_ns = end_ns;
                let span = Since { time_ns, start_ns };
                complain(format_args!(
                    "no event matches; the trace goes from {start}s to {end}s, which is {span}s"
                ));
            }
        }
    }
}
