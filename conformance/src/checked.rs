//! Collects the results of a check.

use std::path::{Path, PathBuf};

use crate::check::check;
use crate::{FileReport, Finding, Output};

/// All results of a check, in order.
#[derive(Debug, Default)]
pub struct Checked {
    /// The reports on files.
    pub reports: Vec<FileReport>,
    /// The paths that could not be read, with the reasons.
    pub unreadable: Vec<(PathBuf, String)>,
}

impl Output for Checked {
    fn file(&mut self, report: FileReport) {
        self.reports.push(report);
    }

    fn unreadable(&mut self, path: &Path, why: &str) {
        self.unreadable.push((path.to_owned(), why.to_owned()));
    }
}

impl Checked {
    /// Checks a file or folder.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        let mut this = Self::default();
        check(path, &mut this);
        this
    }

    /// Returns all findings, each with the report on its file.
    pub fn findings(&self) -> impl Iterator<Item = (&FileReport, &Finding)> {
        let reports = self.reports.iter();
        reports.flat_map(|report| report.findings().into_iter().map(move |it| (report, it)))
    }

    /// Describes the broken structural MUSTs and the unreadable paths.
    #[must_use]
    pub fn structural_faults(&self) -> Vec<String> {
        let findings = self.findings();
        let broken = findings.filter(|(_, it)| it.rule.is_structural_must());
        let broken = broken.map(|(report, it)| {
            let (path, field) = (report.path.display(), &it.place.field);
            format!("{path}: {} at {field}: {}", it.rule.id, it.message)
        });
        let unreadable = self.unreadable.iter();
        let unreadable = unreadable.map(|(path, why)| format!("{}: {why}", path.display()));
        broken.chain(unreadable).collect()
    }
}
