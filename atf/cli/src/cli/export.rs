//! `export`: writes a trace in the format of another tool.

use std::path::PathBuf;

use atf_export::Form;
use clap::ValueEnum;

use super::selection::Selected;
use crate::export;
use crate::output::{Failure, Outcome};

const AFTER_HELP: &str = "\
FORM            opens it; what it loses
  chrome        chrome://tracing, Perfetto UI; details. Times are microseconds with 3 decimals.
  perfetto      Perfetto UI, trace processor; stacks. Registers and fields are arguments of slices.
  speedscope    speedscope; details, kinds of ends: open calls end with the thread's last event,
                returns without a call are only counted.
  firefox       Firefox Profiler; details, single calls: a sample per change of a stack, as heavy
                as the time until the next one. Also as speedscope.
  folded        flamegraph.pl, inferno, speedscope; single calls, their times, threads: the self
                time of each stack in nanoseconds. `;` in a name becomes `:`.
  csv           spreadsheets; details. A row per call: duration_ns is empty if no event ended it.
                To open it in a spreadsheet, add --escape-formulas: names come from the program.

All forms: times never go back, as for `atf report`, and names are truncated to 4096 bytes. Events
after 9223372036854775807 ns, 292 years, are left out and counted, and the exit status is 1. Threads
are numbered from 1, since some tools take 0 for the idle thread; their names contain the trace's
ids, which csv uses. chrome, perfetto and csv have each call's start and end as in the trace;
perfetto and csv also its times, the others count from the trace's first event. Every form records
what is missing: open calls, losses, damage; but only perfetto reads details, and damage inside a
finalized detail.atf is reported by `atf info`. csv has such notes in rows of their own, in the last
column; folded has them as stacks with the time 0.

--from and --to are inclusive; TIME is as for `atf dump`. Calls that overlap the range are cut to
it. Several processes of a session, or the segments of one process, become one file; several
sessions must be exported one by one.

With --clock media, times, including --from and --to, refer to the audio or screen recording with
which a session's timing anchors align it. Sessions of several machines with anchors to one
recording, all with the same timescale, are then one trace. Events before the recording's start are
refused.

Memory: 60 MB for 262,144 open calls, whatever the number of events. If more calls are open, all end
there. speedscope and firefox: 100 bytes per function; firefox: 60 bytes per distinct stack of a
thread, for up to a million stacks, and a temporary file. folded: 140 MB for a call tree of a
million nodes, 1024 functions deep.

FILE gets its name when it is complete, and replaces an older one. If this command is killed, it
leaves a file .atf-export-… next to FILE, which can be deleted.

Exit status: 0; 1 something is damaged or missing, such as the end of an unfinalized file, but not
for events that the manifest counts as lost or unwritten; 2 usage, a path that could not be read, or
a file that could not be written.

Example:
  $ atf export --format perfetto --out trace.pftrace samples/sample-small";

/// Options of `export`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Options {
    /// The form
    #[arg(long, value_name = "FORM")]
    format: FormName,
    /// In csv, write ' before text that begins with =, +, - or @, which spreadsheets would run as a
    /// formula
    #[arg(long)]
    escape_formulas: bool,
    /// The file to write; - for standard output
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    selected: Selected,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum FormName {
    Chrome,
    Perfetto,
    Speedscope,
    Firefox,
    Folded,
    Csv,
}

pub(super) fn run(options: &Options) -> Outcome {
    if options.escape_formulas && !matches!(options.format, FormName::Csv) {
        let message = "--escape-formulas is for --format csv";
        return Err(Failure::Usage(message.to_owned()));
    }
    let form = match options.format {
        FormName::Chrome => Form::Chrome,
        FormName::Perfetto => Form::Perfetto,
        FormName::Speedscope => Form::Speedscope,
        FormName::Firefox => Form::Firefox,
        FormName::Folded => Form::Folded,
        FormName::Csv if options.escape_formulas => Form::SpreadsheetCsv,
        FormName::Csv => Form::Csv,
    };
    let selection = options.selected.selection();
    export::run(form, &options.selected.paths()?, &options.out, &selection)
}
