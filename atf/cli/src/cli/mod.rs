//! One file for each subcommand: its options, its help and its `run`.

mod completions;
mod convert;
mod dump;
mod explain;
mod info;
mod recover;
mod rewrite;
mod scrub;
mod synth;

use std::io;
use std::process::ExitCode;

use atf_conformance::command::check;
use clap::{Parser, Subcommand};

use crate::output::{Failure, State, complain, offer};

/// Looks into ATF v2 function traces, recovers, converts and scrubs them.
#[derive(Parser)]
#[command(name = "atf", version, max_term_width = 100)]
#[command(
    after_help = "Exit status: 0 all is well; 1 something in the input is damaged or unreadable, each command says what; 2 usage, or a path that could not be read. A closed pipe, as of `| head`, is no error."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Say what a trace holds, how it ends, and what is wrong with it
    Info(info::Options),
    /// Write the events of a trace, merged by time
    Dump(dump::Options),
    /// Judge each file of a trace by the rules of the format
    Check(check::Options),
    /// Name every byte of a file by its field, with its value and meaning
    Explain(explain::Options),
    /// Make a finalized trace of one that was cut off or damaged
    Recover(recover::Options),
    /// Write a trace in the other wire version
    Convert(convert::Options),
    /// Write a trace without registers, stacks and what else a program held in memory
    Scrub(scrub::Options),
    /// Make up a trace from a seed
    Synth(synth::Options),
    /// Write the completion script of a shell
    Completions(completions::Options),
}

/// Reads the command line and runs the command.
pub(crate) fn run() -> ExitCode {
    let outcome = match Cli::try_parse().map(|cli| cli.command) {
        Ok(Command::Info(options)) => info::run(&options),
        Ok(Command::Check(options)) => match check::run(&options) {
            Ok(status) => return ExitCode::from(status),
            Err(message) => Err(Failure::Usage(message)),
        },
        Ok(Command::Dump(options)) => dump::run(&options),
        Ok(Command::Explain(options)) => explain::run(&options),
        Ok(Command::Recover(options)) => recover::run(&options),
        Ok(Command::Convert(options)) => convert::run(&options),
        Ok(Command::Scrub(options)) => scrub::run(&options),
        Ok(Command::Synth(options)) => synth::run(&options),
        Ok(Command::Completions(options)) => completions::run(&options),
        // Help that was asked for, or what is wrong with the command line.
        Err(text) => match text.print() {
            Ok(()) if text.use_stderr() => return ExitCode::from(2),
            Ok(()) => Ok(State::Fine),
            Err(error) => Err(Failure::Output(error)),
        },
    };
    match outcome {
        Ok(State::Fine) => ExitCode::SUCCESS,
        Ok(State::Damaged) => ExitCode::from(1),
        // Whoever reads the output has seen enough.
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(failure) => {
            complain(&failure);
            if let Failure::Choice(_, names) = &failure {
                offer(names);
            }
            ExitCode::from(2)
        }
    }
}
