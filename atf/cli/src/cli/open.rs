//! `open`: shows a trace in Perfetto UI.

use std::time::Duration;

use crate::export::Selection;
use crate::open;
use crate::output::Outcome;
use crate::time::parse_span;

const AFTER_HELP: &str = "\
Writes the trace to a temporary file like `atf export --format perfetto`, prints an address, and
serves the file to the page at that address until the page has fetched nothing for the time of
--timeout. Open the address in a browser on this machine. The page comes from ui.perfetto.dev; the
trace does not leave this machine. Other pages cannot read it, nor can other users of this machine:
the address contains a random number, so treat it like a password.
Perfetto UI fetches traces from port 9001 only; another port is for other tools.

Exit status: 0; 1 something is damaged or missing, such as the end of an unfinalized file, but not
for events that the manifest counts as lost or unwritten; 2 usage, a path that could not be read, or
a port that is in use.

Example:
  $ atf open samples/sample-small";

/// Options of `open`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Options {
    /// The port on 127.0.0.1; 0 for any
    #[arg(long, default_value_t = 9001)]
    port: u16,
    /// Exit once no page has fetched anything for this long
    #[arg(long, value_name = "TIME", default_value = "300s", value_parser = parse_span)]
    timeout: Duration,
    #[command(flatten)]
    selection: Selection,
}

pub(super) fn run(options: &Options) -> Outcome {
    let selection = &options.selection;
    open::run(
        &selection.paths()?,
        options.port,
        options.timeout,
        selection,
    )
}
