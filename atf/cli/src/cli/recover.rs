//! `recover`: writes a finalized copy of a crashed or damaged trace.

use std::path::Path;

use atf::rewrite::{RecoverOptions, recover};

use super::rewrite::{Common, Repair};
use crate::output::Outcome;

const AFTER_HELP: &str = "\
The new trace has every whole index event before the first gap, and each detail whose links agree
both ways. A gap is a block that never reached the disk; events after it are reported as dropped.
Faulty content, such as time that goes back, is kept and reported. Details that no event links to
go to orphans.atf. With --salvage, events after a gap go to salvaged.atf, details after damage are
searched for, damaged headers are rebuilt, and ring.atf is used even if its file lost bytes before
it. If a file can be read only in part, the events around the unreadable bytes are kept; a header
among these bytes is rebuilt from the rest. Unreadable files are copied unchanged to unreadable/.
If anything was changed, recovery.json has the report. Recovering a recovered trace changes
nothing. Files and folders keep their modes. The manifest keeps a list of what was lost or
changed, which all commands and copies repeat: their exit status is 1 if events or details were
lost or guessed. If this command is killed, it leaves a folder .atf-PID-N next to OUT, which other
commands ignore and which can be deleted.

The segments of a process are recovered one by one, under the same names, so the new ones are one
trace too. Where a killed tracer did not finish a segment that is not the last, calls then go on
across the events that it may not have written.

Memory: of as many threads as there are cores, 8 bytes and one bit per detail event; up to 256 MiB
for their details; with --salvage 56 bytes per detail found after damage.

Exit status: 0, even if a writer did not finish; 1 events that were written are missing or changed
in the new trace: an unreadable file or part of one, events after a gap or damage, events missing
from a finalized file, details missing although the index was finalized, a checksum mismatch, or
something in a session that was not copied; 2 usage, or a path that could not be read or written.

Example:
  $ atf recover samples/sample-crashed --out recovered";

/// Options of `recover`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Options {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    repair: Repair,
}

pub(super) fn run(options: &Options) -> Outcome {
    let recover = |path: &Path, out: &Path, given: &RecoverOptions<'_>| recover(path, out, given);
    options.repair.run(&options.common, recover)
}
