//! `info`: summarizes a trace and its problems.

use std::io::Write;
use std::path::PathBuf;

use indicatif::ProgressBar;

use crate::info::{Info, Text};
use crate::output::{Colours, Outcome, State, progress_bar, stdout};
use crate::recordings::newest;

const AFTER_HELP: &str = "\
Without --verify it reads headers, footers, the first and last events, and the start of each event
of detail files. With --verify it reads everything and checks checksums, time order, kinds, gaps and
links.

JSON: 64-bit numbers are decimal strings; unknown values are null or omitted.

Memory: 8 bytes per detail event of one thread at a time, about 4 KB per thread, and the manifest.

Exit status: 0; 1 problems are listed, such as an unfinalized file, but not for what readers ignore,
such as an unknown key of the manifest; 2 usage, or a path that could not be read. Without --verify
no checksum of an index file is compared.

Example:
  $ atf info --verify samples/sample-crashed";

/// Options of `info`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Options {
    /// A file, a thread's folder, a session or a folder with sessions below it
    /// [default: the newest recording in or below the current folder]
    path: Option<PathBuf>,
    /// Read everything: check checksums, time order, kinds, gaps and links
    #[arg(long)]
    verify: bool,
    /// Write JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(options: &Options) -> Outcome {
    let progress = if options.verify {
        progress_bar(None, "{spinner} {pos} threads read, {elapsed}")
    } else {
        ProgressBar::hidden()
    };
    let path = match &options.path {
        Some(path) => path,
        None => &newest()?,
    };
    let info = Info::read(path, options.verify, &progress)?;
    progress.finish_and_clear();
    let mut out = stdout();
    if options.json {
        serde_json::to_writer_pretty(&mut out, &info)?;
        out.write_all(b"\n")?;
    } else {
        Text::new(&mut out, Colours::of_stdout()).info(&info)?;
    }
    out.flush()?;
    Ok(State::damaged_if(info.has_problems()))
}
