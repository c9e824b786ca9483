//! Compares runs of a program: which functions take more or less time, appeared or disappeared.

mod csv;
mod json;
mod text;

use std::path::{Path, PathBuf};
use std::slice;

use atf::manifest::{Losses, Missing};
use atf::trace::check_distinct;
use atf_analyze::{Change, Diff, Run, Spread, Subject, Totals};

use crate::dump::Reported;
use crate::output::{Colours, Failure, Outcome, complain, stdout};
use crate::report::{Form, Summed};
use crate::text::{Printable, counted, head, length_if_cut};
use crate::trace::{
    Clock, TimedProcess, open_processes, other_names, report_unnamed, report_unwritten,
    unwritten_events,
};

/// The maximum number of functions of a process. A comparison needs more memory per function than a
/// report.
const OF_RUN: usize = 1 << 18;

/// The options of `diff`.
#[derive(Debug)]
pub(crate) struct Comparison<'a> {
    pub(crate) before: Paths<'a>,
    pub(crate) after: Paths<'a>,
    /// The clock used for times.
    pub(crate) clock: Clock,
    /// The largest difference, in percent, at which values of two single runs count as equal.
    pub(crate) noise_percent: u32,
    /// The maximum number of functions to show.
    pub(crate) limit: usize,
    /// The smallest change of a self time to show, in nanoseconds.
    pub(crate) min_change_ns: u64,
    /// Whether to show functions whose difference is only noise.
    pub(crate) all: bool,
    pub(crate) form: Form,
}

/// The traces of all runs before a change, or of all runs after it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paths<'a> {
    pub(crate) paths: &'a [PathBuf],
    /// A manifest to take names from.
    pub(crate) symbols: Option<&'a Path>,
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

impl Comparison<'_> {
    pub(crate) fn run(&self) -> Outcome {
        let mut reported = Reported::default();
        let before = Side::read(&self.before, self.clock, self.form, &mut reported)?;
        let after = Side::read(&self.after, self.clock, self.form, &mut reported)?;
        let mut diff = atf_analyze::diff(&before.runs, &after.runs, self.noise_percent);
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
        rows.retain(|change| change.change_ns().unsigned_abs() >= self.min_change_ns.into());
        let small = (differing - rows.len()) as u64;
        let more = rows.len().saturating_sub(self.limit) as u64;
        rows.truncate(self.limit);
        let shown = Shown {
            diff: &diff,
            about: [&before.about, &after.about],
            rows,
            noise,
            small,
            more,
            noise_percent: self.noise_percent,
        };
        match self.form {
            Form::Text => text::write(stdout(), Colours::of_stdout(), &shown)?,
            Form::Json => json::write(stdout(), &shown)?,
            Form::Csv(formulas) => csv::write(stdout(), formulas, &shown)?,
        }
        Ok(reported.state())
    }
}

impl Side {
    /// Reads the runs.
    fn read(
        traces: &Paths<'_>,
        clock: Clock,
        form: Form,
        reported: &mut Reported,
    ) -> Result<Self, Failure> {
        let names = other_names(traces.symbols)?;
        let mut this = Self::default();
        let mut found = Vec::new();
        for path in traces.paths {
            let processes = open_processes(slice::from_ref(path), &names, clock)?;
            found.extend(processes.iter().map(|it| it.path().to_path_buf()));
            check_distinct(&found)?;
            report_unwritten(&processes);
            report_unnamed(&processes);
            let mut before: Option<&TimedProcess> = None;
            for process in &processes {
                let options = atf_analyze::Options {
                    max_functions: OF_RUN,
                    ..process.options(None, None)?
                };
                let functions = atf_analyze::functions(process, &options);
                let is_same_run =
                    before.is_some_and(|before: &TimedProcess| before.is_of_run_of(process));
                if !is_same_run {
                    this.runs.push(Run::default());
                    this.about.push(About {
                        path: process.path().to_path_buf(),
                        origin_ns: process.origin_ns(),
                        problems: Vec::new(),
                        unwritten: None,
                        losses_without_files: Losses::default(),
                        knows_losses: true,
                    });
                }
                if let (Some(run), Some(about)) = (this.runs.last_mut(), this.about.last_mut()) {
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
                        if form != Form::Text {
                            message.iter().for_each(complain);
                        }
                        about.problems.push(problem.error.text_with_rule());
                    }
                }
                before = Some(process);
            }
        }
        Ok(this)
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
    let name = subject.to_string();
    let shown = Printable(head(&name));
    match length_if_cut(&name) {
        Some(bytes) => format!("{shown}… ({bytes} bytes)"),
        None => shown.to_string(),
    }
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
