//! The command `atf`: inspects, recovers, converts and scrubs traces.
//!
//! `cli` has a file per subcommand with its options, its help and its `run`. `info`, `dump`,
//! `explain`, `record` and `symbolize` implement five of them. All offsets and names come from the layout that the spec
//! resolves (`format`).

#![forbid(unsafe_code)]

mod cli;
mod dump;
mod explain;
mod format;
mod info;
mod json;
mod loss;
mod output;
mod parallel;
#[cfg(target_os = "linux")]
mod record;
mod symbolize;
mod target;
mod text;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
