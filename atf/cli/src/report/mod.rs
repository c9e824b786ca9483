//! Shows where the time of a trace went: hottest functions, call tree, callers and callees.

mod csv;
mod json;
mod modules;
mod rows;
mod text;

use std::io::Write;
use std::mem;
use std::num::NonZero;
use std::path::PathBuf;
use std::slice;
use std::thread;

use atf::Error;
use atf_analyze::{Functions, Options, Pairs, Pattern, Totals, Tree, in_parallel};
use atf_export::csv::Formulas;

use crate::dump::Reported;
use crate::output::{Colours, Failure, Outcome, complain, stdout};
use crate::recordings::{or_newest, report_several};
use crate::text::Since;
use crate::time::TimeRange;
use crate::trace::{
    ClockOption, ThreadOption, TimedProcess, check_threads, open_processes, other_names,
    report_outside, report_unnamed, report_unwritten,
};

pub(crate) use json::Sums;
pub(crate) use modules::{Listed, Modules, listed};
pub(crate) use rows::Sort;
pub(crate) use text::Summed;

use csv::Csv;
use json::Json;
use rows::Rows;
use text::Text;

/// The output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// A human-readable table.
    Text,
    /// One JSON object per session or thread.
    Json,
    /// One CSV line per row.
    Csv(Formulas),
}

/// The CSV options of `report` and `diff`.
#[derive(Debug, clap::Args)]
pub(crate) struct CsvOption {
    /// Write CSV
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Write ' before text that spreadsheets would run as a formula
    #[arg(long, requires = "csv")]
    escape_formulas: bool,
}

impl CsvOption {
    /// Returns the format for this value of `--json`.
    pub(crate) const fn form(&self, json: bool) -> Form {
        match (json, self.csv, self.escape_formulas) {
            (true, ..) => Form::Json,
            (false, true, true) => Form::Csv(Formulas::Escape),
            (false, true, false) => Form::Csv(Formulas::Keep),
            (false, false, _) => Form::Text,
        }
    }
}

const AFTER_HELP: &str = "\
FUNCTION and TIME are as for `atf dump`. A call that overlaps --from or --to counts with the part of
its time within the range. A call that no event ended lasts until its thread's last event; it is
counted as open, and ≥ marks a total that may be longer.

Problems are part of the output; with --json and --csv they are also written to standard error.
docs/commands.md explains the columns, forms and limits.

Exit status: 0; 1 something is damaged or missing, such as the end of an unfinalized file, or what a
recovery lost, but not for events that the manifest counts as lost or unwritten; 2 usage, or a path
that could not be read.

Example:
  $ atf report --limit 5 samples/sample-small";

/// The options of `report`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Report {
    /// A file, a thread's folder, a session or a folder with sessions below it; or several sessions
    /// [default: the newest recording in or below the current folder]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Sort by this [default: self; total for --callers and --callees]
    #[arg(long, value_name = "KEY", conflicts_with = "tree")]
    sort: Option<Sort>,
    /// Show this many functions per table; 0 for all
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 20,
        conflicts_with = "tree"
    )]
    limit: usize,
    #[command(flatten)]
    threads: ThreadOption,
    #[command(flatten)]
    range: TimeRange,
    #[command(flatten)]
    clock: ClockOption,
    /// Write a table per thread
    #[arg(long)]
    by_thread: bool,
    /// Show the call tree
    #[arg(long)]
    tree: bool,
    /// How deep the tree is shown
    #[arg(long, value_name = "COUNT", requires = "tree")]
    depth: Option<u32>,
    /// Leave out nodes with a smaller share of the tree's time
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0, requires = "tree", value_parser = percent)]
    min_percent: f64,
    /// Show who calls this function
    #[arg(long, value_name = "FUNCTION", conflicts_with_all = ["tree", "callees"])]
    callers: Option<Pattern>,
    /// Show what this function calls
    #[arg(long, value_name = "FUNCTION", conflicts_with = "tree")]
    callees: Option<Pattern>,
    /// Show how long the calls of this function take
    #[arg(long, value_name = "FUNCTION", conflicts_with_all = ["tree", "callers", "callees"])]
    histogram: Option<Pattern>,
    /// Take function names from this manifest
    #[arg(long, value_name = "MANIFEST")]
    symbols: Option<PathBuf>,
    /// Write JSON lines
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    csv: CsvOption,
}

/// The maximum number of functions in a table of a single thread.
const OF_THREAD: usize = 1 << 17;

/// The result for a session or a thread.
enum Found {
    Functions(Functions),
    Tree(Tree),
    Pairs(Pairs),
}

/// A table and its subject.
struct Section<'a> {
    process: &'a TimedProcess,
    /// The thread, if the table covers only one.
    thread: Option<u32>,
    /// The number of selected threads; 0 for all.
    selected: usize,
    rows: Rows<'a>,
    totals: Totals,
    /// The length of the time range, if it covers only part of the trace.
    range_ns: Option<u64>,
    /// The precision of the quantiles, if lower than usual.
    note: Option<String>,
    /// The messages of problems that are not in an earlier section.
    problems: Vec<String>,
}

impl Section<'_> {
    fn summed(&self) -> Summed<'_> {
        Summed {
            totals: &self.totals,
            origin_ns: self.process.origin_ns(),
            range_ns: self.range_ns,
            unwritten: self.process.unwritten(),
            knows_losses: self.process.knows_losses(&self.totals, self.selected),
        }
    }
}

/// Reports the lost events that do not belong to any thread.
fn report_losses_without_files(process: &TimedProcess) {
    let lost = process.losses_without_files();
    if let Some((first_ns, last_ns)) = lost.time_range() {
        let origin_ns = process.origin_ns();
        let [first, last] = [first_ns, last_ns].map(|time_ns| Since { time_ns, origin_ns });
        complain(format_args!(
            "{}: threads without files: the tracer lost {lost}, from {first}s to {last}s",
            process.path().display()
        ));
    }
}

trait Sink {
    fn section(&mut self, section: &Section<'_>) -> Result<(), Failure>;
}

impl Report {
    pub(crate) fn run(&self) -> Outcome {
        let paths = &or_newest(&self.paths)?;
        let names = other_names(self.symbols.as_deref())?;
        let processes = open_processes(paths, &names, self.clock.clock)?;
        check_threads(&processes, &self.threads)?;
        report_unwritten(&processes);
        report_unnamed(&processes);
        report_several(paths, processes.iter().map(|process| process.path()));
        if self.sort == Some(Sort::Max) && self.has_pairs() {
            let message = "--sort max: callers and callees have no durations of individual calls";
            return Err(Failure::Usage(message.to_owned()));
        }
        let mut out = stdout();
        let mut sink: Box<dyn Sink + '_> = match self.form() {
            Form::Text => Box::new(Text::new(&mut out, Colours::of_stdout())),
            Form::Json => Box::new(Json(&mut out)),
            Form::Csv(formulas) => Box::new(Csv::new(&mut out, formulas)),
        };
        let mut reported = Reported::default();
        for process in &processes {
            self.section_of(process, sink.as_mut(), &mut reported)?;
        }
        drop(sink);
        out.flush()?;
        Ok(reported.state())
    }

    fn section_of(
        &self,
        process: &TimedProcess,
        sink: &mut dyn Sink,
        reported: &mut Reported,
    ) -> Result<(), Failure> {
        let ids = process.selected(&self.threads);
        if ids.is_empty() && !self.threads.is_empty() {
            return Ok(());
        }
        let mut options = process.options(self.range)?;
        let range = (options.from_ns, options.to_ns);
        if !self.by_thread {
            if !self.threads.is_empty() {
                options.threads = ids;
            }
            let found = self.analyze(process, &options);
            if !self.write(process, None, (&found, &options), &[], sink, reported)? {
                report_outside(slice::from_ref(process), range);
            }
            return Ok(());
        }
        if self.threads.is_empty() {
            report_losses_without_files(process);
        }
        let own = self.threads.is_empty().then(|| process.problems());
        let mut own = own.unwrap_or_default();
        if ids.is_empty() {
            reported.report_all(&own);
        }
        // Analyze only a few threads at a time, so that not all results are in memory at once. The
        // limits do not depend on the number of cores, because the results must not depend on it
        // either.
        options = Options {
            max_functions: OF_THREAD,
            max_buckets: 2 * OF_THREAD,
            ..options
        };
        let ids: Vec<u32> = ids.into_iter().collect();
        let mut has_found = false;
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        for ids in ids.chunks(cores) {
            let found = in_parallel(ids, None, |id| {
                let options = Options {
                    threads: [*id].into(),
                    jobs: Some(NonZero::<usize>::MIN),
                    ..options.clone()
                };
                self.analyze(process, &options)
            });
            for (id, found) in ids.iter().zip(found) {
                let problems = mem::take(&mut own);
                has_found |= self.write(
                    process,
                    Some(*id),
                    (&found, &options),
                    &problems,
                    sink,
                    reported,
                )?;
            }
        }
        if !has_found {
            report_outside(slice::from_ref(process), range);
        }
        Ok(())
    }

    fn analyze(&self, process: &TimedProcess, options: &Options) -> Found {
        if self.tree {
            Found::Tree(atf_analyze::tree(process, options))
        } else if self.has_pairs() {
            Found::Pairs(atf_analyze::pairs(process, options))
        } else {
            Found::Functions(atf_analyze::functions(process, options))
        }
    }

    /// Returns whether the tables show callers or callees.
    const fn has_pairs(&self) -> bool {
        self.callers.is_some() || self.callees.is_some()
    }

    const fn form(&self) -> Form {
        self.csv.form(self.json)
    }

    /// Writes a table. `problems` are problems found before the analysis. Returns whether the time
    /// range has events or calls.
    fn write(
        &self,
        process: &TimedProcess,
        thread: Option<u32>,
        (found, options): (&Found, &Options),
        problems: &[Error],
        sink: &mut dyn Sink,
        reported: &mut Reported,
    ) -> Result<bool, Failure> {
        let (mut totals, found_problems, note) = match found {
            Found::Functions(found) => (found.totals(), &found.problems, found.coarseness_note()),
            Found::Tree(found) => (found.totals(), &found.problems, None),
            Found::Pairs(found) => (found.totals(), &found.problems, None),
        };
        if thread.is_none() && self.threads.is_empty() {
            totals.losses = totals.losses.plus(process.losses_without_files());
        }
        let has_found = totals.events > 0 || totals.calls > 0;
        let all = found_problems.iter().map(|problem| &problem.error);
        let all = problems.iter().chain(all);
        let problems: Vec<_> = all.filter_map(|error| reported.add(error)).collect();
        if self.form() != Form::Text {
            problems.iter().for_each(complain);
        }
        sink.section(&Section {
            process,
            thread,
            selected: thread.map_or(options.threads.len(), |_| 1),
            rows: self.rows(process, found),
            totals,
            range_ns: process.range_ns(options),
            note,
            problems,
        })?;
        Ok(has_found)
    }
}

/// Parses a percentage.
fn percent(text: &str) -> Result<f64, String> {
    let percent = text.strip_suffix('%').unwrap_or(text).parse().ok();
    let percent = percent.filter(|percent| (0.0..=100.0).contains(percent));
    percent.ok_or_else(|| "expected a number from 0 to 100".to_owned())
}

/// Returns the maximum number of functions that `--limit` allows; 0 means any number.
pub(crate) const fn most(limit: usize) -> usize {
    match limit {
        0 => usize::MAX,
        limit => limit,
    }
}
