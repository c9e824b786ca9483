//! Passes reports on files to the caller of a check.

use std::path::Path;

use super::finding::{FileReport, Kind, Place};
use crate::rules::{Rule, table as rules};
use crate::{Error, ErrorKind, Result};

/// A receiver for the results of a check, which arrive one by one, so that memory use does not grow
/// with the number of files.
pub trait Output {
    /// Receives the report on a file.
    fn file(&mut self, report: FileReport);

    /// Receives a path that could not be read, and the reason.
    fn unreadable(&mut self, path: &Path, why: &str);

    /// Returns whether the check should stop, for example because results can no longer be written.
    fn is_done(&self) -> bool {
        false
    }
}

/// Reports a file that could not be opened. A file may be empty because its writer was killed
/// before writing anything.
pub(super) fn refused(path: &Path, kind: Kind, error: &Error, output: &mut dyn Output) {
    if *error.kind() == ErrorKind::SymbolicLink {
        return linked(path, kind, output);
    }
    let mut report = FileReport::new(path, kind);
    let place = match error.kind() {
        ErrorKind::NothingWritten => {
            match kind {
                Kind::Index => report.events = Some(0),
                _ => report.details = Some(0),
            }
            Place::at("footer", 0)
        }
        _ => place_of(error),
    };
    let Some(rule) = error.rule() else {
        return output.unreadable(path, &error.message());
    };
    report.add(rule, place, || error.kind().to_string());
    output.file(report);
}

pub(super) fn place_of(error: &Error) -> Place {
    let field = error.field().unwrap_or_default().to_owned();
    Place {
        field,
        offset: error.offset(),
    }
}

/// Adds a reader's problem to a report. Returns the problem itself as an error if it breaks no rule,
/// so that it is not lost.
pub(super) fn add_problem(report: &mut FileReport, problem: &Error) -> Result<()> {
    let rule = problem.rule().ok_or_else(|| problem.clone())?;
    report.add(rule, place_of(problem), || problem.kind().to_string());
    Ok(())
}

/// Reports on a file. If `fill` fails, the path is reported as unreadable.
pub(super) fn report_on(
    path: &Path,
    kind: Kind,
    output: &mut dyn Output,
    fill: impl FnOnce(&mut FileReport) -> Result<()>,
) {
    let mut report = FileReport::new(path, kind);
    match fill(&mut report) {
        Ok(()) => output.file(report),
        Err(error) => output.unreadable(path, &error.message()),
    }
}

/// Reports a file or folder that breaks a rule as a whole.
pub(super) fn broken(
    path: &Path,
    kind: Kind,
    rule: &'static Rule,
    message: &str,
    output: &mut dyn Output,
) {
    let mut report = FileReport::new(path, kind);
    report.add(rule, Place::in_field(""), || message.to_owned());
    output.file(report);
}

/// Reports a file or folder that is a symlink.
pub(super) fn linked(path: &Path, kind: Kind, output: &mut dyn Output) {
    let message = "a symlink, which is not followed: it may lead out of the session";
    broken(path, kind, &rules::ATF_SESS_003, message, output);
}
