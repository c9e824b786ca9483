//! One file for each subcommand.

mod check;
mod scripts;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Grades ATF v2 traces against the rules of the format.
#[derive(Parser)]
#[command(name = "atf-conformance", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Give each file of a trace a verdict, and say what it rests on
    Check(check::Options),
    /// List, show or copy the scripts that writers are graded with
    Scripts(scripts::Options),
}

/// Reads the command line and runs the command.
pub(crate) fn run() -> ExitCode {
    match Cli::parse().command {
        Command::Check(options) => check::run(&options),
        Command::Scripts(options) => scripts::run(&options),
    }
}
