//! The output of a check.

use std::ops::Deref;
use std::path::{Path, PathBuf};

use atf_conformance::{Checked, FileReport, Finding, Verdict};
use tempfile::TempDir;

use super::Trace;

/// The reports and errors of a check.
pub(crate) struct Outcome {
    /// The prefix that is removed from paths.
    root: PathBuf,
    checked: Checked,
}

impl Deref for Outcome {
    type Target = Checked;

    fn deref(&self) -> &Checked {
        &self.checked
    }
}

impl Outcome {
    /// Checks a path. File names are relative to the path.
    pub(crate) fn check(path: &Path) -> Self {
        Self {
            root: path.to_owned(),
            checked: Checked::new(path),
        }
    }

    /// Writes a session and checks it.
    pub(crate) fn of_trace(trace: &Trace) -> Self {
        let folder = TempDir::new().unwrap();
        trace.write(folder.path()).unwrap();
        Self::check(folder.path())
    }

    /// Writes a session and checks a folder in it. File names are relative to the session.
    pub(crate) fn of_folder(trace: &Trace, name: &str) -> Self {
        let folder = TempDir::new().unwrap();
        trace.write(folder.path()).unwrap();
        let mut this = Self::check(&folder.path().join(name));
        this.root = folder.path().to_owned();
        this
    }

    /// Returns the name of a report's file, with `/` on every platform.
    pub(crate) fn name(&self, report: &FileReport) -> String {
        let name = report.path.strip_prefix(&self.root).unwrap();
        name.to_string_lossy().replace('\\', "/")
    }

    /// Returns the only report of a file.
    pub(crate) fn report(&self, file: &str) -> &FileReport {
        let mut reports = self.reports.iter().filter(|r| self.name(r) == file);
        let report = reports
            .next()
            .unwrap_or_else(|| panic!("no report of {file}"));
        assert!(reports.next().is_none(), "two reports of {file}");
        report
    }

    pub(crate) fn verdict(&self, file: &str) -> Verdict {
        self.report(file).verdict()
    }

    pub(crate) fn finding(&self, file: &str, rule: &str) -> Option<&Finding> {
        let mut reports = self.reports.iter().filter(|r| self.name(r) == file);
        reports.find_map(|report| {
            let findings = report.findings();
            findings.into_iter().find(|finding| finding.rule.id == rule)
        })
    }

    /// Returns the broken rules of each file, sorted: `thread_7/index.atf ATF-IFTR-001`.
    pub(crate) fn broken(&self) -> Vec<String> {
        let line =
            |(report, finding): (_, &Finding)| format!("{} {}", self.name(report), finding.rule.id);
        let broken = self.findings().map(line);
        let mut broken: Vec<_> = broken.collect();
        broken.sort();
        broken
    }
}
