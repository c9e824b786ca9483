//! `convert`: a trace in the other wire version.

use atf::Wire;
use atf::rewrite::{ConvertOptions, convert};

use super::rewrite::{Common, Names};
use crate::output::Outcome;

const AFTER_HELP: &str = "\
Wire version 2 has neither call_depth nor the thread_id of events; version 1 gets a depth that
is counted from calls and returns. The report names what was lost and what was deduced. A number
that the other version has no room for is refused. A trace that was cut off is recovered on the
way, see `atf recover --help`, with the same memory.

Exit status: 0, also where fields were lost that the other version does not have; 1 something
that was written once is not among the new events, or not as it was, as for recover; 2 usage, a
path that could not be read or written, or a number without room.

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
    /// Look behind holes and damage too
    #[arg(long)]
    salvage: bool,
    #[command(flatten)]
    names: Names,
}

pub(super) fn run(options: &Options) -> Outcome {
    let symbols = options.names.manifest()?;
    options.common.run(!options.salvage, |path, out, progress| {
        let wire = options.wire;
        let options = ConvertOptions {
            salvage: options.salvage,
            symbols,
            durability: options.common.durability(),
            progress: Some(progress),
        };
        convert(path, out, wire, &options)
    })
}

/// A wire version, on a command line.
pub(super) fn wire(text: &str) -> Result<Wire, String> {
    let version = text.parse().ok().and_then(Wire::from_version);
    version.ok_or_else(|| "expected 1 or 2".to_owned())
}
