//! Options that select a part of a trace, shared by `export`, `flamegraph` and `open`. Other
//! commands use the clock option too.

use std::path::PathBuf;

use crate::clock::Clock;
use crate::export::Selection;
use crate::time::Time;

/// The clock of a command's times.
#[derive(clap::Args)]
pub(super) struct ClockOption {
    /// The clock of the times: the trace's own, or that of a recording, by the session's timing anchors
    #[arg(long, value_name = "CLOCK", default_value = "trace")]
    pub(super) clock: Clock,
}

#[derive(clap::Args)]
pub(super) struct Selected {
    /// A file, a thread's folder, a session, or the processes or segments of one run; with --clock
    /// media, also several sessions
    #[arg(value_name = "PATH", required = true)]
    pub(super) paths: Vec<PathBuf>,
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
