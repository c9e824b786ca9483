//! A check's reports in all formats, written while the check runs.
//!
//! No report is kept in memory completely. Data that must be written later is spooled to an unnamed
//! file. The HTML page shows only the worst sessions and states how many it omits.

mod badge;
mod html;
mod json;
mod junit;
mod sarif;
mod session;
mod tap;
mod terminal;
mod words;

use std::io::{self, Write};
use std::path::Path;

use crate::target::{Form, Target};
use atf::check::{FileReport, Output, Summary};
use atf::rules::Severity;

use badge::Badge;
use html::Html;
use json::Json;
use junit::Junit;
use sarif::Sarif;
use tap::Tap;
use terminal::Terminal;

/// A report being written.
trait Sink {
    /// Adds a file's report.
    fn file(&mut self, report: &FileReport) -> io::Result<()>;

    /// Adds an unreadable path.
    fn unreadable(&mut self, path: &Path, why: &str) -> io::Result<()>;

    /// Writes the rest of the report.
    fn finish(&mut self, summary: &Summary) -> io::Result<()>;
}

fn sink(form: Form, deny: Severity, out: Box<dyn Write>) -> io::Result<Box<dyn Sink>> {
    Ok(match form {
        Form::Summary | Form::Text => Box::new(Terminal { out }),
        Form::Tap => Box::new(Tap::new(deny, out)?),
        Form::Junit => Box::new(Junit::new(deny, out)),
        Form::Json => Box::new(Json::new(out)),
        Form::Html => Box::new(Html::new(deny, out)),
        Form::Badge => Box::new(Badge { deny, out }),
        Form::Sarif => Box::new(Sarif::new(out)?),
    })
}

/// The reports of one check and its summary.
///
/// If a report cannot be written, the others are still written.
pub struct Reports {
    sinks: Vec<Open>,
    summary: Summary,
    failure: Option<io::Error>,
}

struct Open {
    target: Target,
    /// The report's writer; `None` after a write error.
    sink: Option<Box<dyn Sink>>,
}

impl Reports {
    /// Opens all reports. A broken rule of severity `deny` or stricter counts as a failure.
    ///
    /// # Errors
    ///
    /// Returns an error with the file's name if a file cannot be created.
    pub fn open(targets: Vec<Target>, deny: Severity) -> io::Result<Self> {
        let open = |target: Target| {
            let sink = sink(target.form, deny, target.open()?);
            let sink = sink.map_err(|error| target.failure(&error))?;
            Ok(Open {
                target,
                sink: Some(sink),
            })
        };
        Ok(Self {
            sinks: targets.into_iter().map(open).collect::<io::Result<_>>()?,
            summary: Summary::default(),
            failure: None,
        })
    }

    fn each(&mut self, mut write: impl FnMut(&mut dyn Sink) -> io::Result<()>) {
        for Open { target, sink } in &mut self.sinks {
            let Some(open) = sink else { continue };
            if let Err(error) = write(&mut **open) {
                *sink = None;
                let error = target.settled(Err(error)).err();
                self.failure = self.failure.take().or(error);
            }
        }
    }

    /// Writes the rest of each report and returns the summary.
    ///
    /// # Errors
    ///
    /// Returns the error of the first report that could not be written. A closed stdout is not an
    /// error.
    pub fn finish(mut self) -> io::Result<Summary> {
        let summary = self.summary;
        self.each(|sink| sink.finish(&summary));
        self.failure.map_or(Ok(summary), Err)
    }
}

impl Output for Reports {
    fn is_done(&self) -> bool {
        // If standard output was merely closed, the exit status still depends on the other files.
        self.failure.is_some() && self.sinks.iter().all(|open| open.sink.is_none())
    }

    fn file(&mut self, report: FileReport) {
        self.summary.add(&report);
        self.each(|sink| sink.file(&report));
    }

    fn unreadable(&mut self, path: &Path, why: &str) {
        self.summary.unreadable += 1;
        self.each(|sink| sink.unreadable(path, why));
    }
}
