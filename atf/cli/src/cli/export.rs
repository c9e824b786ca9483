//! `export`: writes a trace in the format of another tool.

use std::path::PathBuf;

use atf_export::{Form, export};
use clap::ValueEnum;

use crate::dump::Reported;
use crate::export::{Opened, Selection, write_to};
use crate::output::{Failure, Outcome};

const AFTER_HELP: &str = "\
FORM            opens it
  chrome        chrome://tracing, Perfetto UI
  perfetto      Perfetto UI, trace processor; the only form with details
  speedscope    speedscope
  firefox       Firefox Profiler, speedscope
  folded        flamegraph.pl, inferno, speedscope; the self time of each stack
  csv           spreadsheets and data frames, a row per call; see --escape-formulas

Every form records what is missing: open calls, losses, damage. docs/export.md lists what each one
loses, and its limits. --from and --to are inclusive; TIME is as for `atf dump`.

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
    selection: Selection,
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
    let selection = &options.selection;
    let paths = selection.paths()?;
    let opened = Opened::new(&paths, selection)?;
    let summary = write_to(&options.out, &selection.inputs(&paths), |out| {
        export(&opened.processes(), &opened.options, form, out)
    })?;
    Ok(opened.report(&summary, &mut Reported::default()))
}
