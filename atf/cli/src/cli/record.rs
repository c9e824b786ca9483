//! `record`: runs a program and records its calls.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::output::Failure;
use crate::record::{self, Settings};

const AFTER_HELP: &str = "\
The program must have been compiled with -finstrument-functions (GCC) or
-finstrument-functions-after-inlining (Clang), or linked with libatf_instrument.a. It is run with
libatf_instrument.so preloaded, and records into DIR/session_<date>_<time>/pid_<pid>. Children that it
forks record into folders of their own. Programs that ignore the environment, such as setuid programs,
are not recorded.

Events go straight to the files, in buffers that outlive the program: even SIGKILL loses none. With
--ring, another thread of the program writes them, which costs the program's threads less, but SIGKILL
loses what is in the rings.

After the run, the sessions of processes that died are finalized, functions get their names from the
symbol tables of the program and its libraries, and a summary is written to standard error. SIGTERM,
SIGHUP, SIGUSR1 and SIGUSR2 are passed to the program.

Exit status: the program's, or 128 and the number of the signal that ended it; 2 usage, a program that
cannot be run, or nothing was recorded.

Examples:
  $ atf record -- ./program arguments
  $ atf record --out traces --depth 5 --module 'libz*' -- ./program";

/// Options of `record`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Options {
    /// The folder that gets the session
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
    /// Record no deeper calls
    #[arg(long, value_name = "N")]
    depth: Option<u32>,
    /// Record only functions of modules whose path or file name matches; with `!`, none of these; may
    /// be repeated, and the last match decides
    #[arg(long, value_name = "GLOB")]
    module: Vec<String>,
    /// Record through rings of so many events
    #[arg(long, value_name = "EVENTS")]
    ring: Option<usize>,
    /// What happens when a ring is full
    #[arg(long, requires = "ring", value_name = "HOW", value_parser = ["block", "drop"])]
    overflow: Option<String>,
    /// Also search here for files with symbols; may be repeated
    #[arg(long, value_name = "DIR")]
    debug_dir: Vec<PathBuf>,
    /// The library to preload; by default `libatf_instrument.so` next to this program or in ../lib
    #[arg(long, value_name = "FILE")]
    library: Option<PathBuf>,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

pub(super) fn run(options: &Options) -> Result<u8, Failure> {
    let mut variables = Vec::new();
    let mut set = |name, value: String| variables.push((name, value));
    if let Some(depth) = options.depth {
        set("ATF_DEPTH", depth.to_string());
    }
    if !options.module.is_empty() {
        set("ATF_MODULES", options.module.join(","));
    }
    if let Some(ring) = options.ring {
        set("ATF_RING", ring.to_string());
    }
    if let Some(overflow) = &options.overflow {
        set("ATF_OVERFLOW", overflow.clone());
    }
    record::run(&Settings {
        out: &options.out,
        variables,
        debug_dirs: &options.debug_dir,
        library: options.library.as_deref(),
        program: &options.program,
    })
}
