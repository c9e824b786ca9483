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

    /// Begins a row: a piece of work, the work it is compared with, and the speed that it should
    /// reach, as a multiple of the other's.
    pub(crate) fn row(
        &mut self,
        work: impl Into<String>,
        baseline: &'static str,
        goal: f64,
    ) -> Row<'_> {
        Row {
            context: self,
            work: work.into(),
            baseline,
            goal,
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
    goal: f64,
    time: Time,
    amount: Amount,
}

impl Row<'_> {
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
        let verdict = if ratio.low >= self.goal {
            "yes"
        } else if ratio.high < self.goal {
            "below"
        } else {
            "unsure"
        };
        let cells = [
            self.work,
            self.baseline.to_owned(),
            format!("≥ {}", self.goal),
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

/// Returns the default folder for the benchmarks, which is in memory if the system has such a
/// folder.
pub(crate) fn memory_folder() -> PathBuf {
    let shm = Path::new("/dev/shm");
    if shm.is_dir() {
        shm.to_path_buf()
    } else {
        std::env::temp_dir()
    }
}
