//! The command line, with one file per subcommand.

mod compare;
mod corpus;
mod fingerprint;
mod interrupt;
mod run;
mod scripts;
mod shrink;
mod smoke;
mod testee;
mod warden;

use std::io;
use std::process::ExitCode;

use atf_report::command;
use atf_report::packaged::Packaged;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{CommandFactory, Parser, Subcommand};

/// Grades ATF v2 traces against the rules of the format.
#[derive(Parser)]
#[command(name = "atf-conformance", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check captured traces: a verdict for each file, with the rules it breaks
    Check(command::Options),
    /// Compare two runs: which cases are fixed, and which are broken
    Compare(compare::Options),
    /// Write, verify, list, show, copy or export the golden corpus: traces with their expected results
    Corpus(corpus::Options),
    /// Show which document implementations follow where the sources disagree
    #[command(after_help = fingerprint::AFTER_HELP)]
    Fingerprint(run::Testees),
    /// Grade writers, readers and validators with the corpus
    Run(run::Options),
    /// List, show or copy the scripts that grade writers
    Scripts(scripts::Options),
    /// Show whether readers survive a file that is truncated while they read it
    Shrink(shrink::Options),
    /// Check that implementations speak the protocol
    #[command(after_help = smoke::AFTER_HELP)]
    Smoke(run::Testees),
    #[command(flatten)]
    Packaged(Packaged),
    /// Run the reference implementation as an implementation under test
    #[command(hide = true)]
    Testee(testee::Options),
    /// Supervise the processes of implementations under test
    #[command(hide = true)]
    Warden(warden::Options),
}

/// Reads the command line and runs the command.
pub(crate) fn run() -> ExitCode {
    match Cli::try_parse().map(|cli| cli.command) {
        Ok(Command::Check(options)) => exit(command::run(&options)),
        Ok(Command::Compare(options)) => compare::run(&options),
        Ok(Command::Corpus(options)) => corpus::run(&options),
        Ok(Command::Fingerprint(testees)) => fingerprint::run(&testees),
        Ok(Command::Run(options)) => run::run(&options),
        Ok(Command::Scripts(options)) => scripts::run(&options),
        Ok(Command::Shrink(options)) => shrink::run(&options),
        Ok(Command::Smoke(testees)) => smoke::run(&testees),
        Ok(Command::Packaged(it)) => {
            let written = it.write(Cli::command(), &mut io::stdout().lock());
            ended(written.map(|()| 0))
        }
        Ok(Command::Testee(options)) => testee::run(&options),
        Ok(Command::Warden(options)) => warden::run(&options),
        // An error in the command line, even if its message cannot be written.
        Err(text) if text.use_stderr() => {
            let _ = text.print();
            ExitCode::from(2)
        }
        Err(help) => ended(help.print().map(|()| 0)),
    }
}

/// Parses the name of one of these values.
fn one_of<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.iter().map(|it| name(*it))).map(move |chosen| {
        let mut all = all.iter().copied();
        let found = all.find(|it| name(*it) == chosen);
        found.expect("the parser accepts only these names")
    })
}

/// Returns the exit status of a command that writes to standard output.
fn ended(done: io::Result<u8>) -> ExitCode {
    match done {
        // A closed stdout is not an error.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        done => exit(done),
    }
}

/// Returns the exit status of a command, and prints its error.
fn exit<E: ToString>(done: Result<u8, E>) -> ExitCode {
    match done {
        Ok(status) => ExitCode::from(status),
        Err(error) => run::failure(&error.to_string()),
    }
}
