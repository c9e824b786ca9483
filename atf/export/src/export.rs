//! Exports a trace in one pass.

use std::io::Write;

use atf::trace::Process;
use atf_analyze::Options;

use crate::calls::Calls;
use crate::chrome::Chrome;
use crate::csv::{Csv, Formulas};
use crate::firefox::Firefox;
use crate::folded;
use crate::perfetto::Perfetto;
use crate::process::{self, losses_without_files, until_latest};
use crate::sink::LATEST_NS;
use crate::speedscope::Speedscope;
use crate::{Error, ProcessInfo, Sink, Summary, TraceInfo};

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
            summary.is_cut = firefox.is_cut();
            Ok(summary)
        }
        Form::Csv => export_to(processes, options, &mut Csv::new(out, Formulas::Keep)),
        Form::SpreadsheetCsv => export_to(processes, options, &mut Csv::new(out, Formulas::Escape)),
        Form::Folded => folded::write(processes, options, out),
    }
}

/// Passes the calls of processes that share a clock to a sink.
///
/// # Errors
///
/// The sink's errors and internal errors. Read errors are in the summary.
pub fn export_to<'a>(
    processes: &'a [Process],
    options: &Options,
    sink: &mut dyn Sink<'a>,
) -> Result<Summary, Error> {
    let mut summary = Summary::default();
    let info = trace_info(processes, options);
    sink.start(&info)?;
    let mut threads = 0;
    for (pid, process) in process::pids(processes).into_iter().zip(processes) {
        sink.process(&ProcessInfo {
            pid,
            name: process::name(process),
            facts: process::facts(process),
        })?;
        let mut calls = Calls::new(process, pid, threads, (&info, options), sink);
        let problems = atf_analyze::calls(process, &until_latest(options), &mut calls)?;
        threads = calls.thread_count();
        let foreign = calls.foreign_details;
        summary.foreign_details = summary.foreign_details.saturating_add(foreign);
        let (totals, of_threads) = (calls.totals, calls.problems);
        let lost = losses_without_files(process, options).missing();
        let lost = lost.map(|lost| format!("threads without files: {lost}"));
        let of_session = problems.iter().map(|it| it.error.to_string());
        let changes = process.changes().map(ToString::to_string);
        let notes: Vec<_> = lost.chain(changes).chain(of_session).collect();
        sink.process_end(&notes)?;
        summary.add(
            process,
            options,
            &totals,
            problems.into_iter().chain(of_threads),
        );
    }
    sink.finish()?;
    Ok(summary)
}

fn trace_info(processes: &[Process], options: &Options) -> TraceInfo {
    let times = processes.iter().filter_map(Process::time_range);
    let starts = times.map(|(start_ns, _)| start_ns);
    let is_all = options.from_ns == 0 && options.to_ns == u64::MAX;
    TraceInfo {
        // A trace without events has no times.
        start_ns: starts.min().unwrap_or(0).min(LATEST_NS),
        range_ns: (!is_all).then_some((options.from_ns, options.to_ns)),
    }
}
