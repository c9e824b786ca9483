//! Writes a trace in a format.

use std::io::Write;

use atf::trace::Process;
use atf_analyze::Options;

use crate::calls::export_to;
use crate::chrome::Chrome;
use crate::csv::{Csv, Formulas};
use crate::firefox::Firefox;
use crate::folded;
use crate::perfetto::Perfetto;
use crate::speedscope::Speedscope;
use crate::{Error, Summary};

/// A format of another tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// Chrome's JSON array of trace events.
    Chrome,
    /// Perfetto's protobuf trace packets, including registers.
    Perfetto,
    /// speedscope's JSON with evented profiles.
    Speedscope,
    /// The Firefox Profiler's processed profile.
    Firefox,
    /// One line per stack of the call tree, with its self time in nanoseconds.
    Folded,
    /// One row per call.
    Csv,
    /// The same, with escaped [formulas](Formulas), for spreadsheets.
    SpreadsheetCsv,
}

/// Writes the calls of processes that share a clock, in one of the formats.
///
/// Memory, in addition to that of [`calls`](atf_analyze::calls()):
///
/// - speedscope: about 100 bytes per function, for at most 2²⁰ functions.
/// - Firefox: the same, plus 60 bytes per distinct stack of a thread, for at most
///   [`max_nodes`](Options::max_nodes). A temporary file contains the thread's durations.
/// - Perfetto: 2¹⁶ names.
/// - Folded stacks: as for [`tree`](atf_analyze::tree()).
///
/// # Errors
///
/// Output errors and internal errors. Read errors are in the summary.
pub fn export(
    processes: &[Process],
    options: &Options,
    form: Form,
    out: impl Write,
) -> Result<Summary, Error> {
    match form {
        Form::Chrome => export_to(processes, options, &mut Chrome::new(out)),
        Form::Perfetto => export_to(processes, options, &mut Perfetto::new(out)),
        Form::Speedscope => export_to(processes, options, &mut Speedscope::new(out)),
        Form::Firefox => {
            let mut firefox = Firefox::new(out, options.max_nodes);
            let mut summary = export_to(processes, options, &mut firefox)?;
            summary.is_cut = firefox.is_cut;
            Ok(summary)
        }
        Form::Csv => export_to(processes, options, &mut Csv::new(out, Formulas::Keep)),
        Form::SpreadsheetCsv => export_to(processes, options, &mut Csv::new(out, Formulas::Escape)),
        Form::Folded => folded::write(processes, options, out),
    }
}
