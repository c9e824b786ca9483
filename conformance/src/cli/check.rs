//! `check`: verdicts on captured sessions.

use std::io::{self, BufWriter, StdoutLock, Write};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use anstream::AutoStream;
use atf_conformance::report::Printable;
use atf_conformance::report::check::{Json, Terminal};
use atf_conformance::rules::Severity;
use atf_conformance::{FileReport, Output, Summary, check::check_all};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

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
  $ atf-conformance check samples/sample-crashed";

/// Options of `check`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Options {
    /// Sessions, thread folders, files, or folders with such things below them
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Write the report as JSON
    #[arg(long)]
    json: bool,
    /// Exit with status 1 for broken rules of this severity and stricter ones
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
    let mut run = Run::new(options.json);
    let jobs = options
        .jobs
        .or_else(|| thread::available_parallelism().ok());
    check_all(
        &options.paths,
        jobs.unwrap_or(NonZero::<usize>::MIN),
        &mut run,
    );
    run.finish(options.deny.into())
}

enum Form {
    Text(Terminal<AutoStream<StdoutLock<'static>>>),
    Json(Json<BufWriter<StdoutLock<'static>>>),
}

/// Writes reports as they come, and adds them up.
struct Run {
    form: Form,
    summary: Summary,
    progress: ProgressBar,
    failure: Option<io::Error>,
}

impl Run {
    fn new(json: bool) -> Self {
        let out = io::stdout().lock();
        let form = match json {
            true => Form::Json(Json::new(BufWriter::new(out))),
            false => Form::Text(Terminal::new(AutoStream::auto(out))),
        };
        let progress = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{spinner} {pos} files checked, {elapsed}: {msg}");
        progress.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        // Drawn on a terminal only, and only for work that takes a while.
        progress.enable_steady_tick(Duration::from_millis(500));
        Self {
            form,
            summary: Summary::default(),
            progress,
            failure: None,
        }
    }

    fn finish(mut self, deny: Severity) -> ExitCode {
        self.progress.finish_and_clear();
        let result = match (self.failure.take(), &mut self.form) {
            (Some(error), _) => Err(error),
            (None, Form::Text(text)) => text.finish(&self.summary),
            (None, Form::Json(json)) => json.finish(&self.summary),
        };
        match result {
            Ok(()) => ExitCode::from(self.summary.exit_status(deny)),
            // Whoever reads the output has seen enough.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                ExitCode::from(self.summary.exit_status(deny))
            }
            Err(error) => {
                // Nothing can be done where stderr is gone too.
                let _ = writeln!(io::stderr(), "atf-conformance: {error}");
                ExitCode::from(2)
            }
        }
    }
}

impl Output for Run {
    fn is_done(&self) -> bool {
        self.failure.is_some()
    }

    fn file(&mut self, report: FileReport) {
        self.summary.add(&report);
        self.progress.inc(1);
        let path = Printable(report.path.display());
        self.progress.set_message(path.to_string());
        let form = &mut self.form;
        let written = self.progress.suspend(|| match form {
            Form::Text(text) => text.file(&report),
            Form::Json(json) => json.file(&report),
        });
        self.failure = self.failure.take().or(written.err());
    }

    fn unreadable(&mut self, path: &Path, why: &str) {
        self.summary.unreadable += 1;
        let form = &mut self.form;
        let written = self.progress.suspend(|| match form {
            Form::Text(text) => text.unreadable(path, why),
            Form::Json(json) => {
                json.unreadable(path, why);
                Ok(())
            }
        });
        self.failure = self.failure.take().or(written.err());
    }
}
