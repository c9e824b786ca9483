//! Which session a file is of.

use std::path::Path;

use crate::check::{FileReport, Kind};
use crate::rules::Severity;
use atf::session::THREAD_FOLDER;

/// The folder of the session: the one that holds the thread's folder, or, of a thread alone, that itself.
pub(super) fn of(report: &FileReport) -> &Path {
    let folder = match report.kind {
        Kind::Folder => report.path.as_path(),
        _ => parent(&report.path),
    };
    let name = folder.file_name().unwrap_or_default();
    let is_thread = name.to_string_lossy().starts_with(THREAD_FOLDER);
    match is_thread && report.kind != Kind::Manifest {
        true => parent(folder),
        false => folder,
    }
}

fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

/// The folder's name for people.
pub(super) fn name(session: &Path) -> std::path::Display<'_> {
    match session.as_os_str().is_empty() {
        true => Path::new(".").display(),
        false => session.display(),
    }
}

/// The file's path within its session; `.` of the session itself.
pub(super) fn within<'a>(session: &Path, path: &'a Path) -> &'a Path {
    match path.strip_prefix(session) {
        Ok(rest) if rest.as_os_str().is_empty() => Path::new("."),
        Ok(rest) => rest,
        Err(_) => path,
    }
}

/// Whether a broken rule is one that fails the check.
pub(super) fn is_denied(report: &FileReport, deny: Severity) -> bool {
    let mut findings = report.findings().into_iter();
    findings.any(|finding| finding.rule.severity >= deny)
}
