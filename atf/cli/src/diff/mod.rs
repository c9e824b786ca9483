//! Compares runs of a program: which functions take more or less time, appeared or disappeared.

mod csv;
mod json;
mod text;

use std::path::{Path, PathBuf};
use std::slice;
use std::time::Duration;

use atf::manifest::{Losses, Missing};
use atf::trace::check_distinct;
use atf_analyze::{Change, Diff, Run, Spread, Subject, Totals};

use crate::dump::Reported;
use crate::output::{Colours, Failure, Outcome, complain, stdout};
use crate::report::{CsvOption, Form, Summed, most};
use crate::text::{counted, on_line};
use crate::time::{TimeRange, parse_span};
use crate::trace::{
    ClockOption, open_processes, other_names, report_unnamed, report_unwritten, unwritten_events,
};

/// The maximum number of functions of a process. A comparison needs more memory per function than a
/// report.
const OF_RUN: usize = 1 << 18;

const AFTER_HELP: &str = "\
Functions are matched by name and by the file name of their module. A PATH is a session, the folder
of a run with several processes or segments, or a folder of several sessions, which are several
runs. With several runs on a side, change, total times and calls are those of medians.

A function is left out as noise if its calls and its self time differ by at most --noise percent
or, with several runs on a side, if the ranges of both sides overlap. docs/commands.md explains this
and the forms. Damaged or missing data causes differences: compare such runs with care.

Exit status: 0, whether or not anything changed; 1 something is damaged or missing, but not for
events that the manifest counts as lost or unwritten; 2 usage, or a path that could not be read.

Example:
  $ atf diff --limit 3 samples/sample-small samples/sample-crashed";

/// The options of `diff`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Comparison {
    /// The traces of one run before and one run after a change
    #[arg(value_name = "PATH", conflicts_with_all = ["before", "after"], required_unless_present_all = ["before", "after"])]
    paths: Vec<PathBuf>,
    /// The traces of runs before a change
    #[arg(long, value_name = "PATH", num_args = 1.., requires = "after")]
    before: Vec<PathBuf>,
    /// The traces of runs after it
    #[arg(long, value_name = "PATH", num_args = 1.., requires = "before")]
    after: Vec<PathBuf>,
    /// With one run on each side, omit functions that differ by at most this much
    #[arg(long, value_name = "PERCENT", default_value_t = 50, value_parser = percent)]
    noise: u32,
    /// Omit functions whose self time changed by less than this
    #[arg(long, value_name = "SPAN", value_parser = parse_span)]
    min_change: Option<Duration>,
    /// Also show functions that differ only by noise
    #[arg(long)]
    all: bool,
    /// Show this many functions; 0 for all
    #[arg(long, value_name = "COUNT", default_value_t = 20)]
    limit: usize,
    #[command(flatten)]
    clock: ClockOption,
    /// Take the names of functions before the change from this manifest
    #[arg(long, value_name = "MANIFEST")]
    before_symbols: Option<PathBuf>,
    /// Take the names of functions after the change from this manifest
    #[arg(long, value_name = "MANIFEST")]
    after_symbols: Option<PathBuf>,
    /// Write a JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    csv: CsvOption,
}

/// The runs before a change, or the runs after it.
#[derive(Default)]
struct Side {
    runs: Vec<Run>,
    about: Vec<About>,
}

/// The path of a run, and the problems of its sessions.
struct About {
    path: PathBuf,
    /// The origin of times in text output.
    origin_ns: Option<u64>,
    problems: Vec<String>,
    /// The events that the tracer had not yet written when one of the run's processes ended.
    unwritten: Option<Missing>,
    /// The tracer's losses in threads without files.
    losses_without_files: Losses,
    /// Whether the run's totals include all events that the tracer lost.
    knows_losses: bool,
}

impl About {
    fn summed<'a>(&self, totals: &'a Totals) -> Summed<'a> {
        Summed {
            totals,
            origin_ns: self.origin_ns,
            range_ns: None,
            unwritten: self.unwritten,
            knows_losses: self.knows_losses,
        }
    }
}

/// A comparison and the parts of it to show.
struct Shown<'a> {
    diff: &'a Diff,
    about: [&'a [About]; 2],
    rows: Vec<&'a Change>,
    /// The number of functions omitted as noise.
    noise: u64,
    /// The number of functions omitted because their self time changed too little.
    small: u64,
    /// The number of functions omitted because of the limit.
    more: u64,
    noise_percent: u32,
}

impl Comparison {
    pub(crate) fn run(&self) -> Outcome {
        let (before, after) = match &self.paths[..] {
            [] => (&self.before[..], &self.after[..]),
            [before, after] => (slice::from_ref(before), slice::from_ref(after)),
            paths => {
                let count = paths.len();
                let how = "for several runs, use --before and --after";
                return Err(Failure::Usage(format!(
                    "expected 2 paths, found {count}; {how}"
                )));
            }
        };
        let mut reported = Reported::default();
        let before = self.read(before, self.before_symbols.as_deref(), &mut reported)?;
        let after = self.read(after, self.after_symbols.as_deref(), &mut reported)?;
        let mut diff = atf_analyze::diff(&before.runs, &after.runs, self.noise);
        for (totals, side) in [(&mut diff.before, &before), (&mut diff.after, &after)] {
            for (totals, about) in totals.iter_mut().zip(&side.about) {
                totals.losses = totals.losses.plus(about.losses_without_files);
            }
        }
        warn_without_names(&diff);
        let is_shown = |change: &&Change| self.all || !change.is_noise;
        let mut rows: Vec<_> = diff.changes.iter().filter(is_shown).collect();
        let noise = (diff.changes.len() - rows.len()) as u64;
        let differing = rows.len();
        let min_change_ns = self.min_change.unwrap_or_default().as_nanos();
        rows.retain(|change| change.change_ns().unsigned_abs() >= min_change_ns);
        let small = (differing - rows.len()) as u64;
        let limit = most(self.limit);
        let more = rows.len().saturating_sub(limit) as u64;
        rows.truncate(limit);
        let shown = Shown {
            diff: &diff,
            about: [&before.about, &after.about],
            rows,
            noise,
            small,
            more,
            noise_percent: self.noise,
        };
        match self.form() {
            Form::Text => text::write(stdout(), Colours::of_stdout(), &shown)?,
            Form::Json => json::write(stdout(), &shown)?,
            Form::Csv(formulas) => csv::write(stdout(), formulas, &shown)?,
        }
        Ok(reported.state())
    }

    const fn form(&self) -> Form {
        self.csv.form(self.json)
    }

    /// Reads the runs of a side, with the names in the manifest `symbols` if there is one.
    fn read(
        &self,
        paths: &[PathBuf],
        symbols: Option<&Path>,
        reported: &mut Reported,
    ) -> Result<Side, Failure> {
        let names = other_names(symbols)?;
        let mut side = Side::default();
        let mut found = Vec::new();
        for path in paths {
            let processes = open_processes(slice::from_ref(path), &names, self.clock.clock)?;
            found.extend(processes.iter().map(|it| it.path().to_path_buf()));
            check_distinct(&found)?;
            report_unwritten(&processes);
            report_unnamed(&processes);
            for processes in processes.chunk_by(|one, next| one.is_of_run_of(next)) {
                let mut run = Run::default();
                let mut about = About {
                    path: processes[0].path().to_path_buf(),
                    origin_ns: processes[0].origin_ns(),
                    problems: Vec::new(),
                    unwritten: None,
                    losses_without_files: Losses::default(),
                    knows_losses: true,
                };
                for process in processes {
                    let options = atf_analyze::Options {
                        max_functions: OF_RUN,
                        ..process.options(TimeRange::default())?
                    };
                    let functions = atf_analyze::functions(process, &options);
                    run.add(&functions, |id| process.function(id));
                    let unwritten = [about.unwritten, process.unwritten()];
                    about.unwritten = unwritten
                        .into_iter()
                        .max_by_key(|it| unwritten_events(*it))
                        .flatten();
                    let lost = process.losses_without_files();
                    about.losses_without_files = about.losses_without_files.plus(lost);
                    about.knows_losses &= process.knows_losses(&functions.totals(), 0);
                    for problem in &functions.problems {
                        let message = reported.add(&problem.error);
                        if self.form() != Form::Text {
                            message.iter().for_each(complain);
                        }
                        about.problems.push(problem.error.text_with_rule());
                    }
                }
                side.runs.push(run);
                side.about.push(about);
            }
        }
        Ok(side)
    }
}

impl Shown<'_> {
    /// Returns the runs of each side with their totals.
    fn sides(&self) -> [(&'static str, impl Iterator<Item = (&About, &Totals)>); 2] {
        let [before, after] = self.about;
        [
            ("before", before.iter().zip(&self.diff.before)),
            ("after", after.iter().zip(&self.diff.after)),
        ]
    }

    /// Returns how the sum of all self times varies between the runs of each side.
    fn sums(&self) -> [Spread; 2] {
        let sums = |runs: &[Totals]| Spread::new(runs.iter().map(|run| run.busy_ns).collect());
        [sums(&self.diff.before), sums(&self.diff.after)]
    }

    /// Returns the numbers of omitted functions, and how to see them.
    fn omitted(&self) -> impl Iterator<Item = String> {
        let all = [
            (self.more, "not shown; --limit 0 shows all"),
            (
                self.small,
                "with a smaller change than --min-change not shown",
            ),
            (self.noise, "within the noise not shown; --all shows them"),
        ];
        let some = all.into_iter().filter(|(count, _)| *count > 0);
        some.map(|(count, how)| format!("{} {how}", counted(count, "function")))
    }

    /// Returns whether each side is a single run.
    fn is_single(&self) -> bool {
        self.about.iter().all(|side| side.len() == 1)
    }
}

/// Describes how a function changed.
fn state(change: &Change) -> &'static str {
    match () {
        () if change.is_noise => "noise",
        () if change.appeared() => "appeared",
        () if change.vanished() => "vanished",
        () => "changed",
    }
}

/// Shows a function the way `report` does.
fn shown_name(subject: &Subject) -> String {
    if let Subject::Unnamed {
        id, module: None, ..
    } = subject
    {
        return format!("{id:#018x}");
    }
    on_line(&subject.to_string())
}

/// Warns if only one side has names, because then no functions of the two sides match.
fn warn_without_names(diff: &Diff) {
    let is_unnamed = |is_there: fn(&Change) -> bool| {
        let mut there = diff
            .changes
            .iter()
            .filter(|change| is_there(change))
            .peekable();
        there.peek().is_some()
            && there.all(|change| !matches!(change.subject, Subject::Named { .. }))
    };
    let unnamed = [
        is_unnamed(|it| !it.appeared()),
        is_unnamed(|it| !it.vanished()),
    ];
    let option = match unnamed {
        [true, false] => "no function before has a name; --before-symbols",
        [false, true] => "no function after has a name; --after-symbols",
        [true, true] | [false, false] => return,
    };
    complain(format_args!("{option} takes names from another manifest"));
}

/// Parses a percentage.
fn percent(text: &str) -> Result<u32, String> {
    let percent = text.strip_suffix('%').unwrap_or(text).parse().ok();
    let percent = percent.filter(|percent| (0..100).contains(percent));
    percent.ok_or_else(|| "expected a whole number from 0 to 99".to_owned())
}
