//! Writes a run's reports in all formats, from one model: [`Results`].

pub mod annotate;
mod badge;
mod hexdump;
mod html;
mod json;
mod junit;
mod summary;
mod tally;
mod tap;
mod terminal;
mod verdict;
mod words;

use std::io::{self, Write};

use crate::results::Results;
use atf_report::{Form, Target};

/// Why a run cannot write SARIF: its findings are in answers, not in files.
pub const CHECKS_ONLY: &str = "sarif reports are only for checks; for runs, use --annotate";

pub use tally::{Counted, Scores, Tally};

/// Writes a run's report in one format. Text is coloured, but `out` may strip the colours.
///
/// # Errors
///
/// Returns an error if writing to `out` fails.
pub fn write(results: &Results, form: Form, out: &mut dyn Write) -> io::Result<()> {
    match form {
        Form::Summary => summary::write(results, out),
        Form::Text => terminal::write(results, out),
        Form::Tap => tap::write(results, out),
        Form::Junit => junit::write(results, out),
        Form::Json => json::write(results, out),
        Form::Badge => badge::write(results, out),
        Form::Html => html::write(results, out),
        Form::Sarif => Err(io::Error::other(CHECKS_ONLY)),
    }
}

/// Writes all reports to their destinations.
///
/// If a report cannot be written, the others are still written.
///
/// # Errors
///
/// Returns the error of the first report that could not be written. A closed stdout is not an
/// error.
pub fn write_all(results: &Results, targets: &[Target]) -> io::Result<()> {
    let mut failure = None;
    for target in targets {
        let written = target.open().and_then(|mut out| {
            let written = write(results, target.form, &mut out).and_then(|()| out.flush());
            target.settled(written)
        });
        failure = failure.or(written.err());
    }
    failure.map_or(Ok(()), Err)
}
