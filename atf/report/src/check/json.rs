//! The JSON report: one object, written file by file while the check runs.

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use serde_json::json;

use super::Sink;
use crate::spool::Spool;
use atf::check::{FileReport, Finding, Kind, Place, Summary, Verdict};
use atf::rules::{ReaderDoes, Severity};

/// A report in the form of one JSON object: `{"files": […], "unreadable": […], "summary": {…}}`.
pub(super) struct Json<W> {
    out: W,
    has_files: bool,
    /// The unreadable paths, which are written after the files.
    unreadable: Spool,
    has_unreadable: bool,
}

#[derive(Serialize)]
struct FileJson<'a> {
    path: String,
    kind: Kind,
    wire: Option<u8>,
    /// `None` for a manifest that does not exist.
    verdict: Option<Verdict>,
    events: Option<u64>,
    details: Option<u64>,
    #[serde(skip_serializing_if = "is_zero")]
    missing: u64,
    findings: Vec<FindingJson<'a>>,
}

#[derive(Serialize)]
pub(super) struct FindingJson<'a> {
    rule: &'a str,
    severity: Severity,
    reader: ReaderDoes,
    field: &'a str,
    offset: Option<u64>,
    message: &'a str,
    count: u64,
    more: &'a [Place],
}

impl<W: Write> Json<W> {
    /// Makes a report that writes to `out`.
    pub(super) fn new(out: W) -> Self {
        Self {
            out,
            has_files: false,
            unreadable: Spool::new(),
            has_unreadable: false,
        }
    }
}

impl<W: Write> Sink for Json<W> {
    fn file(&mut self, report: &FileReport) -> io::Result<()> {
        self.out.write_all(if self.has_files {
            b",\n"
        } else {
            b"{\"files\":[\n"
        })?;
        self.has_files = true;
        let file = FileJson {
            path: report.path.to_string_lossy().into_owned(),
            kind: report.kind,
            wire: report.wire,
            verdict: (!report.is_absent()).then(|| report.verdict()),
            events: report.events,
            details: report.details,
            missing: report.missing,
            findings: findings(report),
        };
        serde_json::to_writer(&mut self.out, &file)?;
        Ok(())
    }

    fn unreadable(&mut self, path: &Path, why: &str) -> io::Result<()> {
        if self.has_unreadable {
            self.unreadable.write_all(b",")?;
        }
        self.has_unreadable = true;
        let unreadable = json!({"path": path.to_string_lossy(), "message": why});
        write!(self.unreadable, "{unreadable}")
    }

    fn finish(&mut self, summary: &Summary) -> io::Result<()> {
        let start: &[u8] = if self.has_files {
            b"\n],\n"
        } else {
            b"{\"files\":[],\n"
        };
        self.out.write_all(start)?;
        self.out.write_all(b"\"unreadable\":[")?;
        self.unreadable.pour(&mut self.out)?;
        self.out.write_all(b"],\n\"summary\":")?;
        serde_json::to_writer(&mut self.out, summary)?;
        self.out.write_all(b"}\n")?;
        self.out.flush()
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Returns a file's findings as data, strictest first.
pub(super) fn findings(report: &FileReport) -> Vec<FindingJson<'_>> {
    report.findings().into_iter().map(finding).collect()
}

fn finding(finding: &Finding) -> FindingJson<'_> {
    FindingJson {
        rule: finding.rule.id,
        severity: finding.rule.severity,
        reader: finding.rule.reader,
        field: &finding.place.field,
        offset: finding.place.offset,
        message: &finding.message,
        count: finding.count,
        more: &finding.more,
    }
}
