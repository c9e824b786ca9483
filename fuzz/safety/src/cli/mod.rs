//! The command line, with one file per subcommand.

mod composed;
mod crashes;
mod exhaustive;
mod faults;
mod hostile;
#[cfg(target_os = "linux")]
mod limits;
mod page;
mod races;

use std::process::ExitCode;

use atf_safety::Shard;
use clap::{Parser, Subcommand};

/// Attacks the library. The exit status is 1 if a guarantee is broken.
#[derive(Parser)]
#[command(name = "atf-safety", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// The part of a long run to do.
#[derive(clap::Args)]
struct Part {
    /// Run one of several parts, such as 3/16
    #[arg(
        long,
        value_name = "NUMBER/COUNT",
        default_value = "1/1",
        hide_default_value = true
    )]
    shard: Shard,
}

#[derive(Subcommand)]
enum Command {
    /// Compare readers that share no code on sessions with several faults at once
    Composed(composed::Options),
    /// Truncate every file of the corpus at every byte, and flip every bit
    Exhaustive(exhaustive::Options),
    /// Make every system call fail in turn, during recover and in writers
    Faults(faults::Options),
    /// Read every state in which power loss can leave a writer's files
    Crashes(crashes::Options),
    /// Read traces crafted to need a lot of memory, or disproportionate time as they grow
    Hostile(hostile::Options),
    /// Limit the process's resources, and read unusual files and folders
    #[cfg(target_os = "linux")]
    Limits(limits::Options),
    /// Truncate, overwrite and replace files while they are being read
    Races(races::Options),
}

pub(crate) fn run() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Composed(options) => composed::run(&options),
        Command::Exhaustive(options) => exhaustive::run(&options),
        Command::Faults(options) => faults::run(&options),
        Command::Crashes(options) => Ok(crashes::run(&options)),
        Command::Hostile(options) => hostile::run(&options),
        #[cfg(target_os = "linux")]
        Command::Limits(options) => limits::run(&options),
        Command::Races(options) => races::run(&options),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("atf-safety: {error}");
            ExitCode::from(3)
        }
    }
}
