//! One file for each subcommand.

mod crashes;
mod exhaustive;
mod faults;
mod hostile;
#[cfg(target_os = "linux")]
mod limits;
mod races;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Attacks the library; exit status 1 where something does not hold.
#[derive(Parser)]
#[command(name = "atf-safety", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Cut each file of the corpus at every byte, and flip each of its bits
    Exhaustive(exhaustive::Options),
    /// Fail every call of the operating system in turn, under recover and under writers
    Faults(faults::Options),
    /// Read every state in which a loss of power can leave what a writer wrote
    Crashes(crashes::Options),
    /// Read traces that are made to cost much: memory, and instructions as they grow
    Hostile(hostile::Options),
    /// Set limits on the process, and give it files and folders that are out of the ordinary
    #[cfg(target_os = "linux")]
    Limits(limits::Options),
    /// Cut, overwrite and replace files while they are read
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
