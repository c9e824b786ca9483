//! Options that select a part of a trace, shared by `export`, `flamegraph` and `open`. Other
//! commands use the clock option too, and `report` and `diff` that of CSV.

use std::borrow::Cow;
use std::path::PathBuf;

use atf_export::csv::Formulas;

use crate::export::Selection;
use crate::output::Failure;
use crate::recordings::or_newest;
use crate::time::Time;
use crate::trace::Clock;

/// The clock of a command's times.
#[derive(clap::Args)]
pub(super) struct ClockOption {
    /// The clock of the times: the trace's own, or that of the sound or screen recording that the session's
    /// timing anchors name
    #[arg(long, value_name = "CLOCK", default_value = "trace")]
    pub(super) clock: Clock,
}

/// The CSV output of `report` and `diff`.
#[derive(clap::Args)]
pub(super) struct CsvOption {
    /// Write CSV
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Write ' before text that spreadsheets would run as a formula
    #[arg(long, requires = "csv")]
    escape_formulas: bool,
}

impl CsvOption {
    /// Returns how to write text in CSV; `None` for another form.
    pub(super) fn formulas(&self) -> Option<Formulas> {
        let formulas = if self.escape_formulas {
            Formulas::Escape
        } else {
            Formulas::Keep
        };
        self.csv.then_some(formulas)
    }
}

#[derive(clap::Args)]
pub(super) struct Selected {
    /// A file, a thread's folder, a session, or the processes or segments of one run; with --clock
    /// media, also several sessions
    /// [default: the newest recording in or below the current folder]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Only this thread
    #[arg(long, value_name = "ID", value_parser = thread_id)]
    thread: Vec<u32>,
    /// Only the time from here on
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    from: Option<Time>,
    /// Only the time up to here
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    to: Option<Time>,
    #[command(flatten)]
    clock: ClockOption,
    /// Take function names from this manifest
    #[arg(long, value_name = "MANIFEST")]
    symbols: Option<PathBuf>,
}

impl Selected {
    pub(super) fn paths(&self) -> Result<Cow<'_, [PathBuf]>, Failure> {
        or_newest(&self.paths)
    }

    pub(super) fn selection(&self) -> Selection<'_> {
        Selection {
            threads: &self.thread,
            from: self.from,
            to: self.to,
            clock: self.clock.clock,
            symbols: self.symbols.as_deref(),
        }
    }
}

/// Parses a thread's id, or the name of its folder.
pub(super) fn thread_id(text: &str) -> Result<u32, String> {
    let id = text.strip_prefix("thread_").unwrap_or(text).parse();
    id.map_err(|_| "expected a thread id or its folder's name, such as 1 or thread_1".to_owned())
}
