//! The output of a check.

use std::ops::Deref;
use std::path::Path;

use atf_conformance::corpus::Trace;
use atf_conformance::{Checked, FileReport, Finding};
use tempfile::TempDir;

/// The reports and errors of a check. The reports' paths are relative to the session.
pub(crate) struct Outcome(Checked);

impl Deref for Outcome {
    type Target = Checked;

    fn deref(&self) -> &Checked {
        &self.0
    }
}

impl Outcome {
    /// Checks a session, or another path.
    pub(crate) fn check(session: &Path) -> Self {
        Self::check_below(session, session)
    }

    /// Checks a path in a session.
    fn check_below(session: &Path, path: &Path) -> Self {
        let mut checked = Checked::new(path);
        for report in &mut checked.reports {
            let name = report.path.strip_prefix(session).unwrap();
            // Paths have `/` on every platform.
            report.path = name.to_string_lossy().replace('\\', "/").into();
        }
        Self(checked)
    }

    /// Writes a session and checks it.
    pub(crate) fn of_trace(trace: &Trace) -> Self {
        Self::of_folder(trace, "")
    }

    /// Writes a session and checks a folder in it.
    pub(crate) fn of_folder(trace: &Trace, name: &str) -> Self {
        let folder = TempDir::new().unwrap();
        trace.write(folder.path()).unwrap();
        Self::check_below(folder.path(), &folder.path().join(name))
    }

    /// Returns the only report of a file.
    pub(crate) fn report(&self, file: &str) -> &FileReport {
        let is_own = |report: &&FileReport| report.path == Path::new(file);
        let mut reports = self.reports.iter().filter(is_own);
        let report = reports
            .next()
            .unwrap_or_else(|| panic!("no report of {file}"));
        assert!(reports.next().is_none(), "two reports of {file}");
        report
    }

    pub(crate) fn finding(&self, file: &str, rule: &str) -> Option<&Finding> {
        let is_wanted = |(report, finding): &(&FileReport, &Finding)| {
            report.path == Path::new(file) && finding.rule.id == rule
        };
        let found = self.findings().find(is_wanted);
        found.map(|(_, finding)| finding)
    }

    /// Returns the broken rules of each file, sorted: `thread_7/index.atf ATF-IFTR-001`.
    pub(crate) fn broken(&self) -> Vec<String> {
        let line = |(report, finding): (&FileReport, &Finding)| {
            format!("{} {}", report.path.display(), finding.rule.id)
        };
        let mut broken: Vec<_> = self.findings().map(line).collect();
        broken.sort();
        broken
    }
}
