//! The SARIF 2.1.0 report, for services that show findings next to the files. The results are
//! written while the check runs, followed by the rules that they name.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use serde_json::{Value, json};

use super::{Sink, words};
use crate::spool::Spool;
use atf::check::{FileReport, Finding, Place, Summary};
use atf::rules::{Rule, Severity};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// A SARIF report with one run.
pub(super) struct Sarif<W> {
    out: W,
    has_results: bool,
    rules: BTreeMap<&'static str, &'static Rule>,
    /// The unreadable paths, which are written after the results.
    unreadable: Spool,
    is_whole: bool,
}

impl<W: Write> Sarif<W> {
    pub(super) fn new(mut out: W) -> io::Result<Self> {
        write!(
            out,
            r#"{{"$schema":"{SCHEMA}","version":"2.1.0","runs":[{{"results":["#
        )?;
        Ok(Self {
            out,
            has_results: false,
            rules: BTreeMap::new(),
            unreadable: Spool::new(),
            is_whole: true,
        })
    }
}

impl<W: Write> Sink for Sarif<W> {
    fn file(&mut self, report: &FileReport) -> io::Result<()> {
        for finding in report.findings() {
            let comma = if self.has_results { "," } else { "" };
            self.has_results = true;
            self.rules.insert(finding.rule.id, finding.rule);
            let result = json!({
                "ruleId": finding.rule.id,
                "level": level(finding.rule.severity),
                "message": {"text": words::problem(finding)},
                "locations": locations(&report.path, finding),
            });
            write!(self.out, "{comma}\n{result}")?;
        }
        Ok(())
    }

    fn unreadable(&mut self, path: &Path, why: &str) -> io::Result<()> {
        let comma = if self.is_whole { "" } else { "," };
        self.is_whole = false;
        let notification = json!({
            "level": "error",
            "message": {"text": why},
            "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri(path)}}}],
        });
        write!(self.unreadable, "{comma}\n{notification}")
    }

    fn finish(&mut self, _summary: &Summary) -> io::Result<()> {
        let rules = self.rules.values().map(|rule| {
            json!({
                "id": rule.id,
                "shortDescription": {"text": rule.rule},
                "defaultConfiguration": {"level": level(rule.severity)},
            })
        });
        let tool = json!({"driver": {
            "name": "atf-conformance",
            "version": env!("CARGO_PKG_VERSION"),
            "rules": rules.collect::<Vec<_>>(),
        }});
        let out = &mut self.out;
        let is_whole = self.is_whole;
        write!(
            out,
            r#"],"tool":{tool},"invocations":[{{"executionSuccessful":{is_whole},"toolExecutionNotifications":["#
        )?;
        self.unreadable.pour(out)?;
        writeln!(out, "]}}]}}]}}")?;
        out.flush()
    }
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Must => "error",
        Severity::Should => "warning",
        Severity::Advice => "note",
    }
}

/// Returns the first places of a finding in its file.
fn locations(path: &Path, finding: &Finding) -> Vec<Value> {
    let places = std::iter::once(&finding.place).chain(&finding.more);
    places.map(|place| location(path, place)).collect()
}

fn location(path: &Path, place: &Place) -> Value {
    // GitHub refuses findings without a line.
    let mut region = json!({"startLine": 1});
    if let Some(offset) = place.offset {
        region["byteOffset"] = offset.into();
    }
    let mut location = json!({
        "physicalLocation": {"artifactLocation": {"uri": uri(path)}, "region": region},
    });
    if !place.field.is_empty() {
        location["logicalLocations"] = json!([{"fullyQualifiedName": place.field}]);
    }
    location
}

/// Returns a path as a relative reference, or as a URI if the path is absolute.
fn uri(path: &Path) -> String {
    let scheme = if path.is_absolute() { "file://" } else { "" };
    let bytes = path.as_os_str().as_encoded_bytes().iter();
    let escaped = bytes.map(|byte| match byte {
        b'/' | b'-' | b'.' | b'_' | b'~' => char::from(*byte).to_string(),
        byte if byte.is_ascii_alphanumeric() => char::from(*byte).to_string(),
        byte => format!("%{byte:02X}"),
    });
    format!("{scheme}{}", escaped.collect::<String>())
}
