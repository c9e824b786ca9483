//! The context passed to every group of rows, and how a group adds a row.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::harness::{Result, Stopwatch, Time, compare};
use crate::table::{Amount, Report};

/// How much work to do, the folder to work in, and the results.
#[derive(Debug)]
pub(crate) struct Context {
    /// Timed pairs per row.
    pub(crate) pairs: usize,
    /// The factor by which inputs are reduced. 1 gives the sizes in `docs/speed.md`.
    shrink: u64,
    pub(crate) report: Report,
    folder: TempDir,
}

impl Context {
    /// Creates a working folder inside `folder` that is removed at the end.
    pub(crate) fn new(folder: &Path, pairs: usize, shrink: u64) -> Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("atf-bench-")
            .tempdir_in(folder)?;
        Ok(Self {
            pairs,
            shrink,
            report: Report::default(),
            folder,
        })
    }

    /// Returns the number of events to use: `full`, or fewer in a quick run.
    pub(crate) fn events(&self, full: u64) -> u64 {
        (full / self.shrink).max(1_000)
    }

    /// Returns a path in the working folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Creates a folder that is removed when it is dropped.
    pub(crate) fn temporary(&self) -> Result<TempDir> {
        Ok(TempDir::new_in(self.folder.path())?)
    }

    /// Begins a row: a piece of work, and the work it is compared with.
    pub(crate) fn row(&mut self, work: impl Into<String>, baseline: &'static str) -> Row<'_> {
        Row {
            context: self,
            work: work.into(),
            baseline,
            goal: None,
            time: Time::Wall,
            amount: Amount::Each(1, "run"),
        }
    }
}

/// A row of the Speed table that is about to be timed. Its times are wall-clock times unless it says
/// otherwise.
#[derive(Debug)]
pub(crate) struct Row<'c> {
    context: &'c mut Context,
    work: String,
    baseline: &'static str,
    goal: Option<f64>,
    time: Time,
    amount: Amount,
}

impl Row<'_> {
    /// Sets the speed that the work should reach, as a multiple of the baseline's. Without a goal,
    /// the row is a bound: work that no program can avoid.
    pub(crate) fn goal(mut self, goal: f64) -> Self {
        self.goal = Some(goal);
        self
    }

    pub(crate) fn cpu(mut self) -> Self {
        self.time = Time::Cpu;
        self
    }

    /// Sets the number of events, lookups or queries in a run.
    pub(crate) fn each(mut self, count: u64, unit: &'static str) -> Self {
        self.amount = Amount::Each(count, unit);
        self
    }

    /// Sets the number of bytes that a run reads.
    pub(crate) fn bytes(mut self, bytes: u64) -> Self {
        self.amount = Amount::Bytes(bytes);
        self
    }

    /// Times both sides, adds the row to the report and prints it.
    pub(crate) fn compare(
        self,
        ours: impl FnMut(&mut Stopwatch) -> Result<()>,
        baseline: impl FnMut(&mut Stopwatch) -> Result<()>,
    ) -> Result<()> {
        let comparison = compare(self.context.pairs, self.time, ours, baseline)?;
        let ratio = comparison.ratio();
        let verdict = match self.goal {
            None => "bound",
            Some(goal) if ratio.low >= goal => "yes",
            Some(goal) if ratio.high < goal => "below",
            Some(_) => "unsure",
        };
        let cells = [
            self.work,
            self.baseline.to_owned(),
            self.goal.map_or("–".to_owned(), |goal| format!("≥ {goal}")),
            format!(
                "{:.2} ({:.2} to {:.2})",
                ratio.median, ratio.low, ratio.high
            ),
            self.amount.cost(comparison.ours()),
            verdict.to_owned(),
        ];
        self.context.report.add(cells);
        Ok(())
    }
}
