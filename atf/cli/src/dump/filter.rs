//! Selects the events to write. Resolves threads, names and times before the first one.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::str::FromStr;

use atf::EventKind;
use atf::spans::Paired;
use atf::trace::Trace;

use super::Dump;
use super::names::{Function, Names};
use super::trace::{NamedThread, Sessions, threads};
use crate::output::{Failure, complain};
use crate::text::extent;

/// An event kind on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind(EventKind);

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let kinds = || EventKind::MEMBERS.iter().copied();
        let named = kinds().find(|kind| kind.name() == Some(text));
        let kind = named.or_else(|| text.parse().ok().map(EventKind));
        kind.map(Self).ok_or_else(|| {
            let names: Vec<_> = kinds().filter_map(EventKind::name).collect();
            format!("expected {} or a number", names.join(", "))
        })
    }
}

/// The events to write.
#[derive(Debug)]
pub(crate) struct Filter<'a> {
    times: RangeInclusive<u64>,
    kinds: &'a [Kind],
    /// The functions that match the patterns; `None` if there are no patterns.
    functions: Option<BTreeSet<(Option<u32>, u64)>>,
}

impl<'a> Filter<'a> {
    /// Resolves the options for a trace whose first and last event have these times.
    pub(crate) fn new(
        options: &'a Dump,
        trace_times: Option<(u64, u64)>,
        names: &Names<'_>,
    ) -> Result<Self, Failure> {
        let functions = options.functions.iter();
        let functions: BTreeSet<_> = functions.flat_map(|pattern| names.find(pattern)).collect();
        Ok(Self {
            times: times(options, trace_times)?,
            kinds: &options.kinds,
            functions: (!options.functions.is_empty()).then_some(functions),
        })
    }

    /// Reports the patterns that match no function.
    pub(crate) fn complain_of_unknown(options: &Dump, names: &Names<'_>) {
        let functions = options.functions.iter();
        for pattern in functions.filter(|pattern| names.find(pattern).is_empty()) {
            complain(format_args!("no function matches {pattern}"));
        }
    }

    /// Returns the time range of the events to write.
    pub(crate) fn times(&self) -> RangeInclusive<u64> {
        self.times.clone()
    }

    /// Returns whether all events are written.
    pub(crate) fn admits_all(&self) -> bool {
        self.times == (0..=u64::MAX) && self.kinds.is_empty() && self.functions.is_none()
    }

    /// Returns whether no event can be written because no function matches.
    pub(crate) fn admits_none(&self) -> bool {
        self.functions.as_ref().is_some_and(BTreeSet::is_empty)
    }

    /// Returns whether to write a call or an unmatched return, which must overlap the time range.
    pub(crate) fn admits_span(&self, process: u32, paired: &Paired, until_ns: u64) -> bool {
        let (start, function_id) = match paired {
            Paired::Span(span) => (span.start_ns, span.function_id),
            Paired::Unmatched(end) => (end.timestamp_ns, end.function_id),
        };
        start <= *self.times.end()
            && until_ns >= *self.times.start()
            && self.admits_function(process, function_id)
    }

    /// Returns whether to write calls of a function of a process.
    pub(crate) fn admits_function(&self, process: u32, id: u64) -> bool {
        let functions = self.functions.as_ref();
        functions.is_none_or(|all| all.contains(&(None, id)) || all.contains(&(Some(process), id)))
    }

    /// Returns whether to write an event of this kind, in a function of a process, at this time.
    pub(crate) fn admits(
        &self,
        (process, function_id): Function,
        time_ns: u64,
        event_kind: EventKind,
    ) -> bool {
        let is_kind = |kind: &Kind| kind.0 == event_kind;
        self.times.contains(&time_ns)
            && (self.kinds.is_empty() || self.kinds.iter().any(is_kind))
            && self.admits_function(process, function_id)
    }
}

/// Returns the time range of the events to write.
pub(crate) fn times(
    options: &Dump,
    times: Option<(u64, u64)>,
) -> Result<RangeInclusive<u64>, Failure> {
    let (from_ns, to_ns) = options.range.resolve(times)?;
    Ok(from_ns..=to_ns)
}

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
            Some(times) => complain(format_args!("no event matches; {}", extent(times))),
        }
    }
}
