//! What stands fast before the first event is written: threads, names, times.

use atf::Error;

use super::Dump;
use super::filter::Filter;
use super::names::Names;
use super::trace::{Survey, ThreadPlace, Trace};
use crate::output::{Failure, complain};
use crate::text::{Seconds, Since};

/// A trace that was looked at.
pub(crate) struct Ready<'a> {
    pub(crate) names: Names<'a>,
    pub(crate) filter: Filter<'a>,
    /// The threads that are asked for.
    pub(crate) threads: Vec<ThreadPlace>,
    /// Whether something of the trace is missing, which was said.
    pub(crate) is_damaged: bool,
    survey: Survey,
}

impl<'a> Ready<'a> {
    /// Looks at a trace. The inner error is one of the only file there is.
    pub(crate) fn new(dump: &Dump<'a>, trace: &'a Trace) -> Result<Result<Self, Error>, Failure> {
        let names = Names::of(dump.symbols, trace)?;
        let survey = trace.survey();
        Filter::complain_of_unknown(dump, &names);
        let filter = Filter::new(dump, survey.start_ns(), &names)?;
        let threads = match trace.threads(dump.threads) {
            Ok(threads) => threads,
            Err(Failure::Input(error)) => return Ok(Err(error)),
            Err(failure) => return Err(failure),
        };
        let mut is_damaged = false;
        for (position, cut) in &survey.cut {
            if threads.iter().any(|thread| thread.position == *position) {
                complain(format_args!(
                    "{}: {cut}",
                    trace.index_path(*position).display()
                ));
                is_damaged = true;
            }
        }
        if let Trace::Session(session) = trace
            && dump.threads.is_empty()
        {
            for name in session.unrecognized() {
                let path = session.path().join(name);
                let what = "not read; rename it to thread_N to have it read";
                complain(format_args!("{}: {what}", path.display()));
                is_damaged = true;
            }
        }
        Ok(Ok(Self {
            names,
            filter,
            threads,
            is_damaged,
            survey,
        }))
    }

    /// The time from which others are told.
    pub(crate) fn start_ns(&self) -> u64 {
        self.survey.start_ns().unwrap_or(0)
    }

    /// Says why nothing was written.
    pub(crate) fn tell_nothing(&self) {
        if self.filter.admits_none() {
            // That was said of each pattern.
            return;
        }
        match self.survey.times {
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
