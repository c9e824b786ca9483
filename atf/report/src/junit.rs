//! JUnit XML in the form that CI services accept. All JUnit reports share this code.
//!
//! This code does not use quick-junit, which keeps all test cases in memory, because a check's
//! report is written while the check runs.

#![expect(
    clippy::missing_errors_doc,
    reason = "all fail if writing the report fails"
)]

use std::io::{self, Write};

use crate::xml::Attribute;

/// The counts in a suite's attributes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// The number of test cases.
    pub tests: usize,
    /// The number of test cases with a wrong answer.
    pub failures: usize,
    /// The number of test cases without an answer.
    pub errors: usize,
    /// The number of test cases that were not run, or are known to fail.
    pub skipped: usize,
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            tests,
            failures,
            errors,
            skipped,
        } = self;
        write!(
            f,
            r#"tests="{tests}" failures="{failures}" errors="{errors}" skipped="{skipped}""#
        )
    }
}

/// Starts the document.
pub fn start(counts: Counts, seconds: Option<f64>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    write!(out, r#"<testsuites name="atf-conformance" {counts}"#)?;
    if let Some(seconds) = seconds {
        write!(out, r#" time="{seconds:.3}""#)?;
    }
    writeln!(out, ">")
}

/// Ends the document.
pub fn end(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "</testsuites>")
}

/// Writes the implementation's version and the editions it was graded with, prefixed with `atf.`.
pub fn properties(
    version: Option<&str>,
    editions: &[(&str, &str)],
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "    <properties>")?;
    let mut property = |key: &str, value: &str| {
        let value = Attribute(value);
        writeln!(out, r#"      <property name="{key}" value="{value}"/>"#)
    };
    if let Some(version) = version {
        property("version", version)?;
    }
    for (what, edition) in editions {
        property(&format!("atf.{what}"), edition)?;
    }
    writeln!(out, "    </properties>")
}
