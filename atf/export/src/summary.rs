//! The result of an export.

use atf::analyze::{ThreadTotals, Totals};
use atf::session::Problem;

/// The result of an export.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Summary {
    /// Each process's totals over its threads.
    pub totals: Vec<Totals>,
    /// Which events are missing or changed, and which threads were not read.
    pub problems: Vec<Problem>,
    /// Whether a limit cut off parts of the trace. The output reports this too.
    pub is_cut: bool,
}

impl Summary {
    /// Returns whether nothing is damaged and nothing was omitted. Calls may still be open, and the
    /// tracer may have lost events: see [`totals`](Self::totals).
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.problems.is_empty() && !self.is_cut
    }
    pub(crate) fn add(
        &mut self,
        threads: &[ThreadTotals],
        problems: impl IntoIterator<Item = Problem>,
    ) {
        self.totals.push(Totals::of(threads));
        self.problems.extend(problems);
    }
}
