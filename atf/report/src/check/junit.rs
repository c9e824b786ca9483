//! The JUnit XML report, with a suite per session and a test case per file.
//!
//! A broken rule becomes a failure if the check denies its severity, and otherwise goes to
//! `system-out`. An unreadable path becomes an error.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::{Sink, session, words};
use crate::editions::Editions;
use crate::junit::{self, Counts};
use crate::spool::Spool;
use crate::xml::{Attribute, Text};
use atf::check::{FileReport, Summary};
use atf::rules::Severity;

/// A JUnit XML report. Its suites and test cases are spooled, because their totals precede them.
pub(super) struct Junit<W> {
    deny: Severity,
    out: W,
    editions: Editions,
    all: Counts,
    suites: Spool,
    /// The session whose files are currently arriving.
    session: Option<PathBuf>,
    counts: Counts,
    cases: Spool,
}

impl<W: Write> Junit<W> {
    pub(super) fn new(deny: Severity, out: W) -> Self {
        Self {
            deny,
            out,
            editions: Editions::current(),
            all: Counts::default(),
            suites: Spool::new(),
            session: None,
            counts: Counts::default(),
            cases: Spool::new(),
        }
    }

    fn begin(&mut self, session: &Path) -> io::Result<()> {
        if self.session.as_deref() != Some(session) {
            self.end()?;
            self.session = Some(session.to_owned());
        }
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        let Some(session) = self.session.take() else {
            return Ok(());
        };
        let (name, counts) = (Attribute(session::name(&session)), self.counts);
        let suites = &mut self.suites;
        writeln!(suites, r#"  <testsuite name="{name}" {counts}>"#)?;
        junit::properties(None, &self.editions.of_rules(), suites)?;
        self.cases.pour(suites)?;
        writeln!(suites, "  </testsuite>")?;
        self.all.tests += counts.tests;
        self.all.failures += counts.failures;
        self.all.errors += counts.errors;
        self.counts = Counts::default();
        Ok(())
    }
}

impl<W: Write> Sink for Junit<W> {
    fn file(&mut self, report: &FileReport) -> io::Result<()> {
        let session = session::session_folder(report);
        self.begin(session)?;
        self.counts.tests += 1;
        let class = Attribute(session::name(session));
        let name = Attribute(session::within(session, &report.path).display());
        let cases = &mut self.cases;
        write!(cases, r#"    <testcase classname="{class}" name="{name}""#)?;
        let findings = report.findings();
        let Some(first) = findings.first() else {
            return writeln!(cases, "/>");
        };
        let lines: Vec<_> = findings
            .iter()
            .map(|finding| words::line(finding))
            .collect();
        let lines = lines.join("\n");
        let text = Text(&lines);
        writeln!(cases, ">")?;
        if session::is_denied(report, self.deny) {
            self.counts.failures += 1;
            let (severity, message) = (first.rule.severity.name(), Attribute(words::line(first)));
            writeln!(
                cases,
                r#"      <failure type="{severity}" message="{message}">{text}</failure>"#
            )?;
        } else {
            writeln!(cases, "      <system-out>{text}</system-out>")?;
        }
        writeln!(cases, "    </testcase>")
    }

    fn unreadable(&mut self, path: &Path, why: &str) -> io::Result<()> {
        let session = match &self.session {
            Some(session) if path.starts_with(session) => session.clone(),
            _ => path.to_owned(),
        };
        self.begin(&session)?;
        self.counts.tests += 1;
        self.counts.errors += 1;
        let class = Attribute(session::name(&session));
        let (name, why) = (Attribute(path.display()), Attribute(why));
        let cases = &mut self.cases;
        write!(cases, r#"    <testcase classname="{class}" name="{name}">"#)?;
        writeln!(
            cases,
            r#"<error type="unreadable" message="{why}"/></testcase>"#
        )
    }

    fn finish(&mut self, _summary: &Summary) -> io::Result<()> {
        self.end()?;
        junit::start(self.all, None, &mut self.out)?;
        self.suites.pour(&mut self.out)?;
        junit::end(&mut self.out)?;
        self.out.flush()
    }
}
