//! `convert`: writes a trace in another wire version.

use std::path::Path;

use atf::Wire;
use atf::rewrite::{ConvertOptions, convert};

use super::rewrite::{Common, Repair};
use crate::output::Outcome;

const AFTER_HELP: &str = "\
Wire version 2 has no call_depth and no thread_id in events. For version 1, the depth is counted
from calls and returns. The report lists what was lost and what was derived. A number that does
not fit the other version is an error. An unfinalized trace is recovered on the way, with the same
memory (see `atf recover --help`). The segments of a process keep their names, and depths continue
from one to the next.

Exit status: 0, even if fields that the other version lacks were lost; 1 events that were written
are missing or changed in the new trace, as for recover; 2 usage, a path that could not be read or
written, or a number that does not fit.

Example:
  $ atf convert --wire 2 samples/sample-small --out converted";

/// Options of `convert`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Options {
    #[command(flatten)]
    common: Common,
    /// The new wire version: 1 or 2
    #[arg(long, value_name = "VERSION", value_parser = wire)]
    wire: Wire,
    #[command(flatten)]
    repair: Repair,
}

pub(super) fn run(options: &Options) -> Outcome {
    let convert = |path: &Path, out: &Path, given: &ConvertOptions<'_>| {
        convert(path, out, options.wire, given)
    };
    options.repair.run(&options.common, convert)
}

/// Parses a wire version on the command line.
pub(super) fn wire(text: &str) -> Result<Wire, String> {
    let version = text.parse().ok().and_then(Wire::from_version);
    version.ok_or_else(|| "expected 1 or 2".to_owned())
}
