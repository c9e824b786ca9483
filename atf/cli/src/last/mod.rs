//! Shows what was running when the threads of a trace ended.

mod json;
mod text;

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use atf::Completeness;
use atf::manifest::Losses;
use atf::spans::Span;
use atf_analyze::{Last, LastOfThread};

use crate::dump::Reported;
use crate::output::{Colours, Failure, Outcome, complain, stdout};
use crate::recordings::{or_newest, report_several};
use crate::time::{Time, TimeRange, parse_span};
use crate::trace::{
    ClockOption, ThreadOption, TimedProcess, check_threads, open_processes, other_names,
    report_unnamed,
};

use json::Json;
use text::Text;

const AFTER_HELP: &str = "\
For a crashed or killed program: shows, per thread, how and when its file ended (finalized, or
died), the calls that were open, and the last events, also those that a killed tracer left only in
ring.atf. Threads that died come first, and of those the one that ended last; after a crash, that is
usually the thread that crashed. Times count from the first event, in seconds.

Problems are part of the output; with --json they are also written to standard error.
docs/commands.md explains the columns and limits.

Exit status: 0; 1 something is damaged or missing, such as the end of an unfinalized file, but not
for events that the manifest counts as lost or unwritten; 2 usage, or a path that could not be read.

Example:
  $ atf last --thread 1 --for 10us samples/sample-crashed";

/// The options of `last`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Ends {
    /// A file, a thread's folder, a session or a folder with sessions below it; or several sessions
    /// [default: the newest recording in or below the current folder]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    threads: ThreadOption,
    /// Show this many threads in full; those selected by --thread are always shown in full
    #[arg(long, value_name = "COUNT", default_value_t = 3)]
    limit: usize,
    /// Show this many last events per thread
    #[arg(long, value_name = "COUNT", default_value_t = 5)]
    events: usize,
    /// Show all events in this time before the last event of all threads, instead of a number
    #[arg(long = "for", value_name = "SPAN", value_parser = parse_span, conflicts_with = "events")]
    span: Option<Duration>,
    /// Show this many open calls per thread: the innermost ones
    #[arg(long, value_name = "COUNT", default_value_t = 15)]
    calls: usize,
    #[command(flatten)]
    clock: ClockOption,
    /// Take function names from this manifest
    #[arg(long, value_name = "MANIFEST")]
    symbols: Option<PathBuf>,
    /// Write JSON lines
    #[arg(long)]
    json: bool,
}

/// How the threads of a session ended.
struct Section<'a> {
    process: &'a TimedProcess,
    last: &'a Last,
    /// The losses of threads without files, unless threads are selected.
    losses_without_files: Losses,
    /// The messages of the problems that no earlier section contains.
    problems: &'a [String],
}

trait Sink {
    fn section(&mut self, section: &Section<'_>) -> Result<(), Failure>;
}

impl Ends {
    pub(crate) fn run(&self) -> Outcome {
        let paths = &or_newest(&self.paths)?;
        let names = other_names(self.symbols.as_deref())?;
        let processes = open_processes(paths, &names, self.clock.clock)?;
        check_threads(&processes, &self.threads)?;
        report_unnamed(&processes);
        report_several(paths, processes.iter().map(|process| process.path()));
        let mut out = stdout();
        let mut sink: Box<dyn Sink + '_> = if self.json {
            Box::new(Json(&mut out))
        } else {
            let limit = if self.threads.is_empty() {
                self.limit
            } else {
                usize::MAX
            };
            Box::new(Text::new(&mut out, Colours::of_stdout(), limit))
        };
        let mut reported = Reported::default();
        for process in &processes {
            let ids = process.selected(&self.threads);
            if ids.is_empty() && !self.threads.is_empty() {
                continue;
            }
            let (from, events) = match self.span {
                // A span that does not fit into 64 bits of nanoseconds covers the whole trace.
                Some(span) => {
                    let ns = u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
                    (Some(Time::BeforeEnd(ns)), usize::MAX)
                }
                None => (None, self.events),
            };
            let mut options = process.options(TimeRange { from, to: None })?;
            if !self.threads.is_empty() {
                options.threads = ids;
            }
            let last = atf_analyze::last(process, &options, self.calls, events);
            let problems = last.problems.iter();
            let problems = problems.filter_map(|problem| reported.add(&problem.error));
            let problems: Vec<_> = problems.collect();
            if self.json {
                problems.iter().for_each(complain);
            }
            sink.section(&Section {
                process,
                last: &last,
                losses_without_files: if self.threads.is_empty() {
                    process.losses_without_files()
                } else {
                    Losses::default()
                },
                problems: &problems,
            })?;
        }
        drop(sink);
        out.flush()?;
        Ok(reported.state())
    }
}

fn end_ns(thread: &LastOfThread) -> Option<u64> {
    thread.times.map(|(_, end_ns)| end_ns)
}

/// Returns how long a call was open: until the thread's last event or, if known, beyond it.
fn open_ns(thread: &LastOfThread, call: &Span) -> u64 {
    let until_ns = thread.open_until_ns.or_else(|| end_ns(thread));
    until_ns.map_or(0, |until_ns| until_ns.saturating_sub(call.start_ns))
}

/// Returns whether a thread's writer stopped before finalizing the thread.
fn died(thread: &LastOfThread) -> bool {
    let is_unfinalized = matches!(thread.completeness, Completeness::Unfinalized { .. });
    is_unfinalized && !thread.lost_footer
}
