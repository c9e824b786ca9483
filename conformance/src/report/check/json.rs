//! JSON: one object, written file by file as the check goes on.

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use crate::finding::{FileReport, Finding, Kind, Place, Summary, Verdict};
use crate::rules::{ReaderDoes, Severity};

/// Writes reports as one JSON object: `{"files": […], "unreadable": […], "summary": {…}}`.
#[derive(Debug)]
pub struct Json<W> {
    out: W,
    has_files: bool,
    unreadable: Vec<Unreadable>,
}

#[derive(Debug, Serialize)]
struct Unreadable {
    path: String,
    message: String,
}

#[derive(Serialize)]
struct FileJson<'a> {
    path: String,
    kind: Kind,
    wire: Option<u8>,
    verdict: Verdict,
    events: Option<u64>,
    details: Option<u64>,
    findings: Vec<FindingJson<'a>>,
}

#[derive(Serialize)]
struct FindingJson<'a> {
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
    /// A report that goes to `out`.
    pub const fn new(out: W) -> Self {
        Self {
            out,
            has_files: false,
            unreadable: Vec::new(),
        }
    }

    /// Writes a file's report.
    ///
    /// # Errors
    ///
    /// Where `out` fails.
    pub fn file(&mut self, report: &FileReport) -> io::Result<()> {
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
            verdict: report.verdict(),
            events: report.events,
            details: report.details,
            findings: report.findings().into_iter().map(finding).collect(),
        };
        serde_json::to_writer(&mut self.out, &file)?;
        Ok(())
    }

    /// Keeps a path that could not be read for the end.
    pub fn unreadable(&mut self, path: &Path, why: &str) {
        let path = path.to_string_lossy().into_owned();
        self.unreadable.push(Unreadable {
            path,
            message: why.to_owned(),
        });
    }

    /// Writes the rest.
    ///
    /// # Errors
    ///
    /// Where `out` fails.
    pub fn finish(&mut self, summary: &Summary) -> io::Result<()> {
        let start: &[u8] = if self.has_files {
            b"\n],\n"
        } else {
            b"{\"files\":[],\n"
        };
        self.out.write_all(start)?;
        self.out.write_all(b"\"unreadable\":")?;
        serde_json::to_writer(&mut self.out, &self.unreadable)?;
        self.out.write_all(b",\n\"summary\":")?;
        serde_json::to_writer(&mut self.out, summary)?;
        self.out.write_all(b"}\n")?;
        self.out.flush()
    }
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
