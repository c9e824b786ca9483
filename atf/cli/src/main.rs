//! The command `atf`: records programs, and inspects, recovers, converts and scrubs traces.
//!
//! A subcommand's options, help and implementation are in the folder or file of its name, here or,
//! if it is small, in `cli`. `explain` takes all offsets and names from the spec's resolved layout
//! (`format`).

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
