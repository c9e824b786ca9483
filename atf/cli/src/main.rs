//! The command `atf`: looks into traces, recovers, converts and scrubs them.
//!
//! `cli` has a file for each subcommand with its options, its help and its `run`. What they do
//! stands beside it: `info`, `dump` and `explain`. All they know of offsets and names comes from
//! the layout that the spec resolves (`format`).

#![forbid(unsafe_code)]

mod cli;
mod dump;
mod explain;
mod format;
mod info;
mod json;
mod output;
mod target;
mod text;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
