//! `info`: what a trace holds, how it ends, what is wrong with it.

use std::io::Write;
use std::path::PathBuf;

use crate::info::{Info, Progress, Text};
use crate::output::{Colours, Outcome, State, stdout};

const AFTER_HELP: &str = "\
Without --verify it reads headers, footers, the first and the last event, and of detail files
where each event begins. With --verify it reads all: checksums, the order of time, kinds, holes,
links.

JSON: numbers of 64 bits are decimal strings, what is not known is null or left out.

Memory: 8 bytes for each detail event of one thread at a time, some 6 KB for each thread, and the
manifest.

Exit status: 0; 1 something is listed under problems, such as a file that was not finalized; 2 usage,
or a path that could not be read. Without --verify no checksum of an index file is compared.

Example:
  $ atf info --verify samples/sample-crashed";

/// Options of `info`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Options {
    /// A file, a thread's folder, a session, or a folder with sessions below it
    path: PathBuf,
    /// Read all: checksums, the order of time, kinds, holes, links
    #[arg(long)]
    verify: bool,
    /// Write JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(options: &Options) -> Outcome {
    let progress = Progress::new(options.verify);
    let info = Info::of(&options.path, options.verify, &progress)?;
    progress.finish();
    let mut out = stdout();
    if options.json {
        serde_json::to_writer_pretty(&mut out, &info)?;
        out.write_all(b"\n")?;
    } else {
        Text::new(&mut out, Colours::of_stdout()).info(&info)?;
    }
    out.flush()?;
    Ok(State::of(info.has_problems()))
}
