//! The command line. The files here are small subcommands, each with its options, help and `run`,
//! and what the rewrites share.

mod convert;
mod cut;
mod export;
mod flamegraph;
mod recover;
mod rewrite;
mod scrub;
mod synth;

use std::io;
use std::process::ExitCode;

use atf_report::command as check;
use atf_report::packaged::Packaged;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::output::{Failure, State, complain, offer, stdout};
#[cfg(target_os = "linux")]
use crate::record;
use crate::{diff, dump, explain, info, last, open, report, symbolize};

/// Records programs as ATF v2 function traces, and reports, exports, checks and recovers traces.
#[derive(Parser)]
#[command(name = "atf", version, max_term_width = 100)]
#[command(after_help = "\
Exit status: 0 success; 1 something in the input is damaged or unreadable, see each command's help;
2 usage, or a path that could not be read. A closed pipe, such as `| head`, is not an error.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a program and record its calls
    #[cfg(target_os = "linux")]
    Record(Box<record::Options>),
    /// Summarize a trace: its contents, completeness and problems
    Info(info::Options),
    /// Write the events of a trace, merged by time
    Dump(dump::Dump),
    /// Show where the time went: hot functions, call tree, callers and callees
    Report(report::Report),
    /// Compare runs of a program: functions that take more or less time, appeared or vanished
    Diff(diff::Comparison),
    /// Show what was running when each thread of a trace ended
    Last(last::Ends),
    /// Draw where the time went: a flame graph, or what changed between two traces
    Flamegraph(flamegraph::Options),
    /// Write a trace for other tools: Chrome, Perfetto, speedscope, Firefox, folded stacks, CSV
    Export(export::Options),
    /// Show a trace in Perfetto UI, which fetches it from this machine
    Open(open::Options),
    /// Check each file of a trace against the rules of the format
    Check(check::Options),
    /// Show which field each byte of a file belongs to, with its value and meaning
    Explain(explain::Options),
    /// Write a finalized copy of an unfinalized or damaged trace
    Recover(recover::Options),
    /// Write a trace in wire version 1 or 2
    Convert(convert::Options),
    /// Write a copy without registers, stacks and other data from the program's memory
    Scrub(scrub::Options),
    /// Write a time range of a session as a new session
    Cut(cut::Options),
    /// Add names of functions from the modules' files to a session's manifest
    Symbolize(symbolize::Options),
    /// Generate a synthetic trace
    Synth(synth::Options),
    #[command(flatten)]
    Packaged(Packaged),
}

/// Makes a write beyond the file-size limit (`ulimit -f`) fail instead of killing the command, so
/// that the command can remove its unfinished output. `record` is excluded: if this process ignores
/// the signal, the recorded program must inherit that.
#[cfg(unix)]
fn outlive_file_size_limits(command: &Result<Command, clap::Error>) {
    #[cfg(target_os = "linux")]
    if matches!(command, Ok(Command::Record(_))) {
        return;
    }
    #[cfg(not(target_os = "linux"))]
    let _ = command;
    // Without a handler, the limit kills the command as before.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default());
}

/// Returns the parser of the command line. Options accept negative numbers, so that the error
/// message reports an invalid value instead of an unknown option.
fn command() -> clap::Command {
    let option = |arg: clap::Arg| {
        let takes_value = arg.get_action().takes_values() && !arg.is_positional();
        arg.allow_negative_numbers(takes_value)
    };
    Cli::command().mut_subcommands(|it| it.mut_args(option))
}

/// Reads the command line and runs the command.
pub(crate) fn run() -> ExitCode {
    let matches = command().try_get_matches();
    let command = matches.and_then(|matches| Command::from_arg_matches(&matches));
    #[cfg(unix)]
    outlive_file_size_limits(&command);
    let outcome = match command {
        Ok(Command::Info(options)) => options.run(),
        Ok(Command::Check(options)) => match check::run(&options) {
            Ok(status) => return ExitCode::from(status),
            Err(message) => Err(Failure::Usage(message)),
        },
        #[cfg(target_os = "linux")]
        Ok(Command::Record(options)) => match record::run(&options) {
            Ok(status) => return ExitCode::from(status),
            Err(failure) => Err(failure),
        },
        Ok(Command::Dump(options)) => options.run(),
        Ok(Command::Report(options)) => options.run(),
        Ok(Command::Diff(options)) => options.run(),
        Ok(Command::Last(options)) => options.run(),
        Ok(Command::Flamegraph(options)) => flamegraph::run(&options),
        Ok(Command::Export(options)) => export::run(&options),
        Ok(Command::Open(options)) => options.run(),
        Ok(Command::Explain(options)) => options.run(),
        Ok(Command::Recover(options)) => recover::run(&options),
        Ok(Command::Convert(options)) => convert::run(&options),
        Ok(Command::Cut(options)) => cut::run(&options),
        Ok(Command::Scrub(options)) => scrub::run(&options),
        Ok(Command::Symbolize(options)) => options.run(),
        Ok(Command::Synth(options)) => synth::run(&options),
        Ok(Command::Packaged(it)) => (it.write(Cli::command(), &mut stdout()))
            .map_err(|error| match it {
                Packaged::Manual { .. } => Failure::Usage(error.to_string()),
                Packaged::Completions { .. } => Failure::from(error),
            })
            .map(|()| State::Fine),
        // A command-line error, even if its message cannot be written.
        Err(text) if text.use_stderr() => {
            let _ = text.print();
            return ExitCode::from(2);
        }
        Err(help) => help.print().map(|()| State::Fine).map_err(Failure::Output),
    };
    match outcome {
        Ok(State::Fine) => ExitCode::SUCCESS,
        Ok(State::Damaged) => ExitCode::from(1),
        // A closed stdout is not an error.
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(failure) => {
            complain(&failure);
            if let Failure::Choice(_, names) = &failure {
                offer(names);
            }
            let is_damage = matches!(failure, Failure::Damaged(_));
            ExitCode::from(if is_damage { 1 } else { 2 })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The maximum width of a line in a help text.
    const WIDTH: usize = 100;

    #[test]
    fn help_texts_have_lines_of_at_most_a_hundred_columns() {
        let mut root = command();
        root.build();
        check(&mut root);
        let commands = root.get_subcommands_mut().map(check).count();
        assert!(commands >= 18, "{commands}");
    }

    fn check(command: &mut clap::Command) {
        // Longer source lines would be wrapped when rendered.
        let source = command.get_after_help().map(ToString::to_string);
        let rendered = command.render_long_help().to_string();
        let lines = source.iter().chain([&rendered]);
        for line in lines.flat_map(|text| text.lines()) {
            let width = line.chars().count();
            let name = command.get_name();
            assert!(width <= WIDTH, "{name} --help: {width} columns: {line}");
        }
    }
}
