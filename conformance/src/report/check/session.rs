//! Which session a file is of.

use std::path::Path;

use crate::check::THREAD_FOLDER;
use crate::finding::{FileReport, Kind};
use crate::rules::Severity;

/// The folder of the session: of a thread's file, the one that holds the thread's folder.
pub(super) fn of(report: &FileReport) -> &Path {
    let folder = report.path.parent().unwrap_or(Path::new(""));
    let is_thread = || {
        let name = folder.file_name().unwrap_or_default();
        name.to_string_lossy().starts_with(THREAD_FOLDER)
    };
    match report.kind {
        Kind::Index | Kind::Detail | Kind::Ring if is_thread() => folder.parent().unwrap_or(folder),
        _ => folder,
    }
}

/// The folder's name for people.
pub(super) fn name(session: &Path) -> std::path::Display<'_> {
    match session.as_os_str().is_empty() {
        true => Path::new(".").display(),
        false => session.display(),
    }
}

/// The file's path within its session.
pub(super) fn within<'a>(session: &Path, path: &'a Path) -> &'a Path {
    path.strip_prefix(session).unwrap_or(path)
}

/// Whether a broken rule is one that fails the check.
pub(super) fn is_denied(report: &FileReport, deny: Severity) -> bool {
    let mut findings = report.findings().into_iter();
    findings.any(|finding| finding.rule.severity >= deny)
}
