//! `scrub`: a trace that can be shared.

use atf::rewrite::{ScrubOptions, scrub};

use super::rewrite::Common;
use crate::output::Outcome;

const AFTER_HELP: &str = "\
Registers become zeros; stacks and payloads of other shapes are left out, and with them whatever
else could hold the program's memory: details that no event refers to, damage, unknown keys of
the manifest, files that an earlier recovery set aside. Functions, times, links and names stay.
The report goes to standard output and not into the trace, since it quotes what it found wrong.
A trace that was cut off is recovered on the way, see `atf recover --help`, with the same
memory.

Exit status: 0; 1 something that was written once is not among the new events, or not as it was,
as for recover; 2 usage, or a path that could not be read or written.

Example:
  $ atf scrub --module-names-only samples/sample-small --out shared";

/// Options of `scrub`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Options {
    #[command(flatten)]
    common: Common,
    /// Leave all details out, not only what they hold
    #[arg(long)]
    drop_details: bool,
    /// Cut the paths of modules, which may hold the name of a user, to file names
    #[arg(long)]
    module_names_only: bool,
}

pub(super) fn run(options: &Options) -> Outcome {
    options.common.run(false, |path, out, progress| {
        let options = ScrubOptions {
            drop_details: options.drop_details,
            module_names_only: options.module_names_only,
            durability: options.common.durability(),
            progress: Some(progress),
        };
        scrub(path, out, &options)
    })
}
