//! `symbolize`: adds names found in module files to a session's manifest.

use std::io::Write;
use std::path::PathBuf;

use crate::output::{Outcome, State, stdout};
use crate::symbolize::Report;
use crate::trace::only_session;

const AFTER_HELP: &str = "\
For tracers that record function offsets instead of names: the modules' entries in manifest.json
have `function_offsets: true`. Each module's file (ELF, or Mach-O of one architecture) is searched
at its path; then in each --debug-dir DIR and in /usr/lib/debug as DIR/path, DIR/name and
DIR/.build-id/ab/cdef….debug. If the file at its path names a debug file in .gnu_debuglink, that one
is searched beside it, in .debug beside it, and in each DIR as DIR/folder/debugfile and
DIR/debugfile. A file's build id must be the module's uuid; without a uuid, none is compared, but
the checksum of a debug file is. A stripped file is used only if no other has all functions; one
with .gnu_debugdata has all. Names of Rust and C++ are demangled; Swift's stay as they are, because
all maintained demanglers are C++, which must not read names of untrusted files.

The new manifest.json replaces the old one atomically and differs from it only in added names and in
format_version. Nothing else may write the session meanwhile. Other files are not changed.

Memory: 16 bytes per function in the events, and a small multiple of the manifest and of the symbol
tables of one file at a time, plus 256 MiB for those of further files. Each file is read at most
twice, and at most 2 GiB of it; each of its names is demangled once. If a C++ name takes more than
1 s, or all of them more than 10 s plus 10 µs per byte, later C++ names stay mangled.

Exit status: 0; 1 a function in the events still has no name, or not all events could be read;
2 usage, a session without modules, or a path that could not be read or written.

Example:
  $ atf symbolize --debug-dir debug session_20260105_101500/pid_4242";

/// Options of `symbolize`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Options {
    /// A session to whose manifest names are added, or a folder with one session below it
    session: PathBuf,
    /// Also search here; may be repeated
    #[arg(long, value_name = "DIR")]
    debug_dir: Vec<PathBuf>,
    /// Write the report as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(options: &Options) -> Outcome {
    let report = Report::look_up(&only_session(&options.session)?, &options.debug_dir)?;
    let mut out = stdout();
    if options.json {
        serde_json::to_writer_pretty(&mut out, &report)?;
        out.write_all(b"\n")?;
    } else {
        report.write(&mut out)?;
    }
    out.flush()?;
    Ok(State::damaged_if(report.lacks_something()))
}
