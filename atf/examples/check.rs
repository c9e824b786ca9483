//! Checks traces against the rules of the format and prints each violation with its location. Exit
//! status: 0 if no MUST rule is broken, 1 if one is, 2 if a path cannot be read.
//!
//! ```sh
//! cargo run --release --example check -- PATH...
//! ```

use std::path::Path;
use std::process::ExitCode;

use atf::check::{FileReport, Output, Summary, check};
use atf::rules::Severity;

/// A sink that prints each result as it arrives and adds it to the summary.
#[derive(Default)]
struct Printer(Summary);

impl Output for Printer {
    fn file(&mut self, report: FileReport) {
        let verdict = report.verdict().name();
        println!("{}: {verdict}", report.path.display());
        for finding in report.findings() {
            let (severity, rule) = (finding.rule.severity.name(), finding.rule.id);
            let (field, message) = (&finding.place.field, &finding.message);
            println!("  {severity} {rule} {field}: {message}");
        }
        self.0.add(&report);
    }

    fn unreadable(&mut self, path: &Path, why: &str) {
        eprintln!("{}: {why}", path.display());
        self.0.unreadable += 1;
    }
}

fn main() -> ExitCode {
    let mut printer = Printer::default();
    let paths = std::env::args_os().skip(1);
    if paths.len() == 0 {
        eprintln!("usage: check PATH...");
        return ExitCode::from(2);
    }
    for path in paths {
        check(path.as_ref(), &mut printer);
    }
    let Summary {
        files,
        must,
        should,
        ..
    } = printer.0;
    println!("{files} files; rules broken: {must} must, {should} should");
    ExitCode::from(printer.0.exit_status(Severity::Must))
}
