//! The command `atf`: records programs, and inspects, recovers, converts and scrubs traces.
//!
//! `cli` has one file per subcommand, with its options, help and `run`. The implementation of a
//! subcommand is in the folder or file of the same name. All offsets and names come from the spec's
//! resolved layout (`format`).

#![forbid(unsafe_code)]

mod cli;
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
#[cfg(target_os = "linux")]
mod record;
mod recordings;
mod report;
mod symbolize;
mod text;
mod time;
mod trace;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
