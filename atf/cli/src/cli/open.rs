//! `open`: shows a trace in Perfetto UI.

use std::path::PathBuf;

use super::selection::Selected;
use crate::open;
use crate::output::Outcome;

const AFTER_HELP: &str = "\
Writes the trace as `atf export --format perfetto` to a temporary file, prints an address, and gives
the file to the page at that address, once. Open the address in a browser on this machine. The page
comes from ui.perfetto.dev; the trace does not leave this machine. Other pages cannot read it.

--clock media gives the times of the sound or screen recording that a session's timing anchors align
it with, in --from and --to too. Sessions of several machines that have anchors to one recording,
which must have one timescale, then are one trace. Events before the recording's start are refused.

Perfetto UI fetches traces from port 9001 only; another port is for other tools.

Exit status: 0; 1 something is damaged or missing, such as the end of an unfinalized file; 2 usage,
a path that could not be read, or a port that is in use.

Example:
  $ atf open samples/sample-small";

/// Options of `open`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Options {
    /// A file, a thread's folder or a session; or several sessions
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    /// The port on 127.0.0.1; 0 for any
    #[arg(long, default_value_t = 9001)]
    port: u16,
    #[command(flatten)]
    selected: Selected,
}

pub(super) fn run(options: &Options) -> Outcome {
    let selection = options.selected.selection();
    open::run(&options.paths, options.port, &selection)
}
