//! The command `atf`: records programs, and inspects, recovers, converts and scrubs traces.
//!
//! `cli` has one file per subcommand, with its options, help and `run`. The subcommand is
//! implemented in the folder of the same name. All offsets and names come from the spec's resolved
//! layout (`format`).

#![forbid(unsafe_code)]

mod cli;
mod clock;
mod diff;
mod dump;
mod explain;
mod export;
mod format;
mod info;
mod json;
mod last;
mod loss;
mod open;
mod output;
mod parallel;
mod parts;
#[cfg(target_os = "linux")]
mod record;
mod report;
mod symbolize;
mod target;
mod text;

use std::process::ExitCode;
#[cfg(unix)]
use std::sync::Arc;

fn main() -> ExitCode {
    #[cfg(unix)]
    outlive_file_size_limits();
    cli::run()
}

/// Makes a write beyond the file-size limit (`ulimit -f`) fail instead of killing the command, which
/// then removes its unfinished output. Programs that `record` starts do not inherit a handler, unlike
/// an ignored signal.
#[cfg(unix)]
fn outlive_file_size_limits() {
    // Without a handler, the limit kills the command as before.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
}
