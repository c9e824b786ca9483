//! `check`: verdicts on captured sessions.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use atf_conformance::report::check::Reports;
use atf_conformance::report::{Form, Printable, Target};
use atf_conformance::rules::Severity;
use atf_conformance::{FileReport, Output, check::check_all};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::run::failure;

const AFTER_HELP: &str = "\
Each file gets a verdict, the worst thing that a reader must do about it:
  accept   read it
  recover  read what survived: the file was not finalized, or lost something
  reject   refuse it

The verdict is about reading, the exit status about conforming: a reader accepts a file whose
header disagrees with its footer, though its writer broke a MUST.

Exit status: 0 no MUST is broken (accept or recover); 1 a MUST is broken; 2 usage, or a path that
could not be read (it outranks 1). With --deny should, as for a tracer's CI, a broken SHOULD is 1
too: a file that was not finalized, a checksum of 0.

What a rule asks for stands under its id in docs/reference/rules.md.

Example:
  $ atf-conformance check samples/sample-crashed --report html=report.html";

/// Options of `check`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Options {
    /// Sessions, thread folders, files, or folders with such things below them
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Write a report: text, tap, junit, json, html or badge, to a file or, without one, to standard output
    #[arg(long = "report", value_name = "FORM[=FILE]")]
    reports: Vec<Target>,
    /// The same as --report json
    #[arg(long)]
    json: bool,
    /// Exit with status 1, and call it a failure, for broken rules of this severity and stricter ones
    #[arg(long, value_name = "SEVERITY", default_value = "must")]
    deny: Deny,
    /// How many sessions are checked side by side; the report is the same [default: as many as there
    /// are processors]
    #[arg(long, short, value_name = "N")]
    jobs: Option<NonZero<usize>>,
}

/// A severity, on the command line.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Deny {
    Must,
    Should,
    Advice,
}

impl From<Deny> for Severity {
    fn from(deny: Deny) -> Self {
        match deny {
            Deny::Must => Self::Must,
            Deny::Should => Self::Should,
            Deny::Advice => Self::Advice,
        }
    }
}

pub(super) fn run(options: &Options) -> ExitCode {
    let deny = options.deny.into();
    let mut targets = options.reports.clone();
    if options.json {
        let (form, file) = (Form::Json, None);
        targets.push(Target { form, file });
    }
    let reports = match Target::chosen(&targets, Form::Text) {
        Ok(targets) => Reports::open(targets, deny).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    let mut run = match reports {
        Ok(reports) => Run::new(reports),
        Err(message) => return failure(&message),
    };
    let jobs = options
        .jobs
        .or_else(|| thread::available_parallelism().ok());
    check_all(
        &options.paths,
        jobs.unwrap_or(NonZero::<usize>::MIN),
        &mut run,
    );
    run.progress.finish_and_clear();
    match run.reports.finish() {
        Ok(summary) => ExitCode::from(summary.exit_status(deny)),
        Err(error) => failure(&error.to_string()),
    }
}

/// Writes reports as they come, and shows how far it is.
struct Run {
    reports: Reports,
    progress: ProgressBar,
}

impl Run {
    fn new(reports: Reports) -> Self {
        let progress = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{spinner} {pos} files checked, {elapsed}: {msg}");
        progress.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        // Drawn on a terminal only, and only for work that takes a while.
        progress.enable_steady_tick(Duration::from_millis(500));
        Self { reports, progress }
    }
}

impl Output for Run {
    fn is_done(&self) -> bool {
        self.reports.is_done()
    }

    fn file(&mut self, report: FileReport) {
        self.progress.inc(1);
        let path = Printable(report.path.display());
        self.progress.set_message(path.to_string());
        let reports = &mut self.reports;
        self.progress.suspend(|| reports.file(report));
    }

    fn unreadable(&mut self, path: &Path, why: &str) {
        let reports = &mut self.reports;
        self.progress.suspend(|| reports.unreadable(path, why));
    }
}
