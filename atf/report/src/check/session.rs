//! Finds the session that a file belongs to.

use std::path::Path;

use atf::check::{FileReport, Kind};
use atf::rules::Severity;
use atf::session::THREAD_FOLDER;

/// Returns the session folder. This is the parent of the thread's folder, or the folder itself if a
/// thread was checked on its own.
pub(super) fn session_folder(report: &FileReport) -> &Path {
    let folder = match report.kind {
        Kind::Folder => report.path.as_path(),
        _ => parent(&report.path),
    };
    let name = folder.file_name().unwrap_or_default();
    let is_thread = name.to_string_lossy().starts_with(THREAD_FOLDER);
    if is_thread && report.kind != Kind::Manifest {
        parent(folder)
    } else {
        folder
    }
}

fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

/// Returns the folder's display name.
pub(super) fn name(session: &Path) -> std::path::Display<'_> {
    if session.as_os_str().is_empty() {
        Path::new(".").display()
    } else {
        session.display()
    }
}

/// Returns the path within the session, or `.` for the session itself.
pub(super) fn within<'a>(session: &Path, path: &'a Path) -> &'a Path {
    match path.strip_prefix(session) {
        Ok(rest) if rest.as_os_str().is_empty() => Path::new("."),
        Ok(rest) => rest,
        Err(_) => path,
    }
}

/// Returns whether a finding fails the check.
pub(super) fn is_denied(report: &FileReport, deny: Severity) -> bool {
    let mut findings = report.findings().into_iter();
    findings.any(|finding| finding.rule.severity >= deny)
}
