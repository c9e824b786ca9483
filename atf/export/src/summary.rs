//! The result of an export.

use atf::trace::Process;
use atf_analyze::{Options, Problem, ThreadTotals, Totals};

use crate::notes::late_events;
use crate::process::losses_without_files;

/// The result of an export.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Summary {
    /// Each process's totals over its threads. Without a selection of threads, they include the
    /// events that the tracer lost in threads without files.
    pub totals: Vec<Totals>,
    /// The problems: events that are missing or changed, and threads that were not read.
    pub problems: Vec<Problem>,
    /// How many events link to details of other events. The output omits these details, and reports
    /// how many there are.
    pub foreign_details: u64,
    /// How many events are later than 2⁶³ − 1 ns. The output omits them, and reports how many there
    /// are.
    pub late_events: u64,
    /// Whether a limit cut off parts of the trace. The output reports this too.
    pub is_cut: bool,
}

impl Summary {
    /// Returns whether nothing is damaged and nothing was omitted. Calls may still be open, and the
    /// tracer may have lost events: see [`totals`](Self::totals).
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.problems.is_empty()
            && self.foreign_details == 0
            && self.late_events == 0
            && !self.is_cut
    }

    pub(crate) fn add(
        &mut self,
        process: &Process,
        options: &Options,
        threads: &[ThreadTotals],
        problems: impl IntoIterator<Item = Problem>,
    ) {
        let mut totals = Totals::sum(threads);
        totals.losses = totals.losses.plus(losses_without_files(process, options));
        self.totals.push(totals);
        let late = late_events(threads, options);
        self.late_events = self.late_events.saturating_add(late);
        self.problems.extend(problems);
    }
}
