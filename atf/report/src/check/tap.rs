//! The TAP 14 report, with one test point per file. A point lists all findings of its file,
//! including those that do not make it fail.

use std::io::{self, Write};
use std::path::Path;

use serde_json::Value;

use super::{Sink, json, session};
use crate::editions::Editions;
use crate::{Printable, tap};
use atf::check::{FileReport, Summary};
use atf::rules::Severity;

pub(super) struct Tap<W> {
    deny: Severity,
    tap: tap::Tap<W>,
}

impl<W: Write> Tap<W> {
    pub(super) fn new(deny: Severity, out: W) -> io::Result<Self> {
        let tap = tap::Tap::new(out, &Editions::current().of_rules())?;
        Ok(Self { deny, tap })
    }
}

impl<W: Write> Sink for Tap<W> {
    fn file(&mut self, report: &FileReport) -> io::Result<()> {
        let title = Printable(report.path.display()).to_string();
        let is_ok = !session::is_denied(report, self.deny);
        self.tap.point(is_ok, &title, None)?;
        let findings = json::findings(report);
        if findings.is_empty() {
            return Ok(());
        }
        self.tap.diagnostics(&[
            ("verdict", Value::from(report.verdict().name())),
            ("findings", serde_json::to_value(findings)?),
        ])
    }

    fn unreadable(&mut self, path: &Path, why: &str) -> io::Result<()> {
        let title = format!("{} can be read", Printable(path.display()));
        self.tap.point(false, &title, None)?;
        self.tap.diagnostics(&[("message", Value::from(why))])
    }

    fn finish(&mut self, _summary: &Summary) -> io::Result<()> {
        self.tap.finish()
    }
}
