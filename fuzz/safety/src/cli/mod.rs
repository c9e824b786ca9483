//! The command line, with one file per subcommand.

mod crashes;
mod exhaustive;
mod faults;
mod hostile;
#[cfg(target_os = "linux")]
mod limits;
mod races;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Attacks the library; exit status 1 if a guarantee is broken.
#[derive(Parser)]
#[command(name = "atf-safety", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Truncate every file of the corpus at every byte, and flip every bit
    Exhaustive(exhaustive::Options),
    /// Fail every system call in turn, during recover and in writers
    Faults(faults::Options),
    /// Read every state that power loss can leave a writer's files in
    Crashes(crashes::Options),
    /// Read traces crafted to cost much memory, or instructions as they grow
    Hostile(hostile::Options),
    /// Limit the process's resources, and read unusual files and folders
    #[cfg(target_os = "linux")]
    Limits(limits::Options),
    /// Truncate, overwrite and replace files while they are read
    Races(races::Options),
}

/// Reads the command line and runs the command.
pub(crate) fn run() -> ExitCode {
    match Cli::parse().command {
        Command::Exhaustive(options) => exhaustive::run(&options),
        Command::Faults(options) => faults::run(&options),
        Command::Crashes(options) => crashes::run(&options),
        Command::Hostile(options) => hostile::run(&options),
        #[cfg(target_os = "linux")]
        Command::Limits(options) => limits::run(&options),
        Command::Races(options) => races::run(&options),
    }
}
