//! `scrub`: writes a copy that is safe to share.

use atf::rewrite::{ScrubOptions, scrub};

use super::rewrite::Common;
use crate::output::Outcome;

const AFTER_HELP: &str = "\
Registers become zeros. Stacks and payloads of other shapes are dropped, and so is everything else
that could contain the program's memory: details that no event links to, damaged data, unknown keys
of the manifest, files that an earlier recovery set aside. Functions, times, links and names stay.
The report goes to standard output, not into the trace, since it quotes the problems it found. An
unfinalized trace is recovered on the way, with the same memory (see `atf recover --help`). The
segments of a process keep their names.

Exit status: 0; 1 events that were written are missing or changed in the new trace, as for recover;
2 usage, or a path that could not be read or written.

Example:
  $ atf scrub --module-names-only samples/sample-small --out shared";

/// Options of `scrub`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Options {
    #[command(flatten)]
    common: Common,
    /// Drop all details, not only their contents
    #[arg(long)]
    drop_details: bool,
    /// Shorten module paths, which may contain a user's name, to file names
    #[arg(long)]
    module_names_only: bool,
}

pub(super) fn run(options: &Options) -> Outcome {
    options.common.run(false, |path, out, progress| {
        let options = ScrubOptions::default()
            .drop_details(options.drop_details)
            .module_names_only(options.module_names_only)
            .durability(options.common.durability())
            .progress(Some(progress));
        scrub(path, out, &options)
    })
}
