//! One file for each subcommand.

mod check;
mod corpus;
mod run;
mod scripts;
mod smoke;
mod testee;
mod warden;

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
    /// Write, verify, list, show or copy the golden corpus: traces with what a reader must make of them
    Corpus(corpus::Options),
    /// Grade implementations on the corpus: writers, readers, validators
    Run(run::Options),
    /// List, show or copy the scripts that writers are graded with
    Scripts(scripts::Options),
    /// See whether testees speak the protocol
    Smoke(smoke::Options),
    /// The reference implementation, as a testee
    #[command(hide = true)]
    Testee(testee::Options),
    /// The process that watches over testees
    #[command(hide = true)]
    Warden(warden::Options),
}

/// Reads the command line and runs the command.
pub(crate) fn run() -> ExitCode {
    match Cli::parse().command {
        Command::Check(options) => check::run(&options),
        Command::Corpus(options) => corpus::run(&options),
        Command::Run(options) => run::run(&options),
        Command::Scripts(options) => scripts::run(&options),
        Command::Smoke(options) => smoke::run(&options),
        Command::Testee(options) => testee::run(&options),
        Command::Warden(options) => warden::run(&options),
    }
}
