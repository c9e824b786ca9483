//! The command `check`: verdicts on captured traces.

mod allowed;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;
use std::io::{self, Write};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread;

use atf::check::{FileReport, Output, check_all};
use atf::rules::Severity;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::check::Reports;
use crate::{Form, Printable, Target};
use allowed::Allowed;

const AFTER_HELP: &str = "\
Each file gets a verdict, which says what a reader must do with it:
  accept   read it
  recover  read the events that can be recovered: the file is unfinalized or lost data
  reject   refuse it
A session's manifest.json is `missing` if there is none; it does not count as a file.

The verdict is about reading; the exit status is about conformance. A reader accepts a file whose
header disagrees with its footer, but its writer broke a MUST.

Exit status: 0 no MUST is broken (accept or recover); 1 a MUST is broken, for example by events that
are missing from a finalized file, or that a recovery lost; 2 usage error, or a path
could not be read (overrides 1). With --deny should, meant for a tracer's CI, a broken SHOULD also
exits with 1: an unfinalized file, a checksum of 0.

With --allow, the rules in FILE are ignored in verdicts, reports and the exit status, for example
those that an edition of your own breaks. Standard error has each rule with its reason and the
number of files, and each line that no file needs. Lines that begin with # are comments:
  ATF-MANI-011  vendor_build is a key of our own

Rules are described by id in docs/reference/rules.md.

Example:
  $ atf check samples/sample-crashed --report html=report.html";

/// Options of `check`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Options {
    /// Sessions, thread folders, files, or folders that contain them
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[arg(long = "report", value_name = "FORM[=FILE]", help = Form::help())]
    reports: Vec<Target>,
    /// Same as --report json
    #[arg(long)]
    json: bool,
    /// Fail with exit status 1 on broken rules of this severity or stricter
    #[arg(long, value_name = "SEVERITY", default_value = "must", value_parser = severity())]
    deny: Severity,
    /// Ignore the broken rules that this file lists: a rule's id and a reason per line
    #[arg(long, value_name = "FILE")]
    allow: Option<PathBuf>,
    /// Check this many threads or files in parallel; does not affect the report [default: number of
    /// processors]
    #[arg(long, short, value_name = "N")]
    jobs: Option<NonZero<usize>>,
}

fn severity() -> impl TypedValueParser<Value = Severity> {
    let all = [Severity::Must, Severity::Should, Severity::Advice];
    PossibleValuesParser::new(all.map(Severity::name)).try_map(move |name| {
        let found = all.into_iter().find(|severity| severity.name() == name);
        found.ok_or("no such severity")
    })
}

/// Checks the paths and writes the reports. Returns the exit status.
///
/// # Errors
///
/// Returns a message for standard error if two reports go to the same place or a report cannot be
/// written.
pub fn run(options: &Options) -> Result<u8, String> {
    let paths = distinct(&options.paths);
    let allowed = options.allow.as_deref().map(Allowed::open).transpose()?;
    let mut targets = options.reports.clone();
    if options.json {
        let (form, file) = (Form::Json, None);
        targets.push(Target { form, file });
    }
    let targets = Target::chosen(&targets, Form::Text)?;
    let spared = targets.iter().try_for_each(|target| target.spare(&paths));
    spared.map_err(|error| error.to_string())?;
    let reports = Reports::open(targets, options.deny).map_err(|error| error.to_string())?;
    let mut run = Run::new(reports, allowed.unwrap_or_default());
    let available = || thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
    check_all(&paths, options.jobs.unwrap_or_else(available), &mut run);
    run.progress.finish_and_clear();
    let _ = write!(io::stderr(), "{}", run.allowed);
    let summary = run.reports.finish().map_err(|error| error.to_string())?;
    Ok(summary.exit_status(options.deny))
}

/// Returns the paths without those that lead to the same file or folder as an earlier path, and
/// names these on standard error. Keeps paths that cannot be opened, which the check reports.
fn distinct(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut seen = BTreeMap::<_, &PathBuf>::new();
    let mut distinct = Vec::new();
    for path in paths {
        match fs::canonicalize(path).map(|place| seen.entry(place)) {
            Ok(Entry::Occupied(first)) => {
                let (path, first) = (path.display(), first.get().display());
                let (path, first) = (Printable(path), Printable(first));
                // The report and the exit status matter even if stderr is closed.
                let _ = writeln!(io::stderr(), "{path}: checked only once, as {first}");
                continue;
            }
            Ok(Entry::Vacant(place)) => {
                place.insert(path);
            }
            Err(_) => {}
        }
        distinct.push(path.clone());
    }
    distinct
}

/// An output that writes reports as they arrive and shows progress.
struct Run {
    reports: Reports,
    allowed: Allowed,
    progress: ProgressBar,
}

impl Run {
    fn new(reports: Reports, allowed: Allowed) -> Self {
        let progress = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{spinner} {pos} files checked, {elapsed}: {msg}");
        progress.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        Self {
            reports,
            allowed,
            progress,
        }
    }
}

impl Output for Run {
    fn is_done(&self) -> bool {
        self.reports.is_done()
    }

    fn file(&mut self, mut report: FileReport) {
        self.allowed.remove_from(&mut report);
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
