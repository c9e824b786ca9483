//! `shrink`: shows whether readers survive that a file is truncated while they read it.

use std::process::ExitCode;

use super::exit;
use super::run::{Testees, each};
use atf_conformance::run::shrink;
use atf_report::Printable;

const AFTER_HELP: &str = "\
A tracer that is restarted, or a clean-up job, may truncate a file that is being read. A program
that maps the file is then killed by SIGBUS. This is not part of a run's grades: only a crash counts
here, and any answer is right.

Exit status: 0 no crash; 2 usage error; 3 a reader crashed or cannot be started.

Example:
  $ atf-conformance shrink my-reader/TESTEE.toml";

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Options {
    #[command(flatten)]
    testees: Testees,
    /// How often to read a file of 2 MiB that is truncated at another moment
    #[arg(long, default_value = "20", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rounds: u32,
}

pub(super) fn run(options: &Options) -> ExitCode {
    let rounds = options.rounds;
    let done = each(&options.testees, |pool, manifest, out| {
        let name = Printable(&manifest.name);
        let Some(crashes) = shrink(pool, manifest, rounds)? else {
            writeln!(out, "{name}: reads no index.atf")?;
            return Ok(true);
        };
        match crashes.first() {
            None => writeln!(out, "{name}: no crash in {rounds} rounds")?,
            Some(why) => {
                let (count, why) = (crashes.len(), Printable(why));
                writeln!(out, "{name}: crashed in {count} of {rounds} rounds: {why}")?;
            }
        }
        Ok(crashes.is_empty())
    });
    exit(done)
}
