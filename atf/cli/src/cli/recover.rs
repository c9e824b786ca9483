//! `recover`: a crashed or damaged trace as a finalized one.

use atf::rewrite::{RecoverOptions, recover};

use super::rewrite::{Common, Names};
use crate::output::Outcome;

const AFTER_HELP: &str = "\
The new trace has every whole index event, and each detail whose links agree both ways. Faults
of the content, as time that goes back, stay and are reported. Details that no event refers to
go to orphans.atf; with --salvage events from behind a hole go to salvaged.atf, and details from
behind damage are looked for. Files that cannot be read go to unreadable/ as they are.
recovery.json keeps the report where anything was changed. A trace that was recovered once is
not changed by the next time. Files and folders keep their modes. If this command is killed, it
leaves a folder .atf-PID-N beside OUT, which other commands ignore and which can be deleted.

Memory: 8 bytes and one bit for each detail event of one thread at a time; with --salvage 56
bytes for each detail found behind damage.

Exit status: 0, also where a writer was cut off; 1 something that was written once is not among
the new events, or not as it was: a file that cannot be read, events behind a hole or behind
damage, events cut off a finalized file, events that do not match their checksum, what stands in
a session and is left behind; 2 usage, or a path that could not be read or written.

Example:
  $ atf recover samples/sample-crashed --out recovered";

/// Options of `recover`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Options {
    #[command(flatten)]
    common: Common,
    /// Look behind holes and damage too
    #[arg(long)]
    salvage: bool,
    #[command(flatten)]
    names: Names,
}

pub(super) fn run(options: &Options) -> Outcome {
    let symbols = options.names.manifest()?;
    options.common.run(!options.salvage, |path, out, progress| {
        let options = RecoverOptions {
            salvage: options.salvage,
            symbols,
            durability: options.common.durability(),
            progress: Some(progress),
        };
        recover(path, out, &options)
    })
}
