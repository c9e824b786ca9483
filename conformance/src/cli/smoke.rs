//! `smoke`: checks that an implementation speaks the protocol, before anything is graded.

use std::io::{self, Write};
use std::process::ExitCode;

use atf_conformance::report::Printable;
use atf_conformance::run::warden::contained;
use atf_conformance::run::{Candidate, Pool, smoke};

use super::interrupt::Interrupt;
use super::run::{Testees, failure, tasks};

const AFTER_HELP: &str = "\
Runs one simple case for each role, feature and wire version that an implementation claims, and
validates the answers against the protocol's JSON Schemas. `run` does this too before it grades.

Exit status: 0 all speak the protocol; 2 usage error; 3 one does not, or cannot be started.";

/// Options of `smoke`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Options {
    #[command(flatten)]
    testees: Testees,
}

pub(super) fn run(options: &Options) -> ExitCode {
    let (candidates, options) = match options.testees.open() {
        Ok(opened) => opened,
        Err(message) => return failure(&message),
    };
    let tasks = tasks();
    let all = || -> io::Result<bool> {
        let pool = Pool::new(&options)?;
        let mut out = anstream::AutoStream::auto(io::stdout().lock());
        let mut is_good = true;
        for candidate in &candidates {
            let (name, result) = match candidate {
                Candidate::Manifest(manifest) => {
                    (Printable(&manifest.name), smoke(&pool, manifest, &tasks)?)
                }
                Candidate::Unusable(error) => {
                    is_good = false;
                    writeln!(out, "{}", Printable(error))?;
                    continue;
                }
            };
            match result {
                Ok(()) => writeln!(out, "{name}: ok")?,
                Err(why) => {
                    is_good = false;
                    writeln!(out, "{name}: {}", Printable(why))?;
                }
            }
        }
        out.flush()?;
        Ok(is_good)
    };
    let interrupt = match Interrupt::listen(&options.interrupt) {
        Ok(interrupt) => interrupt,
        Err(error) => return failure(&error.to_string()),
    };
    let all = contained(all);
    interrupt.settle();
    match all {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(3),
        Err(error) => failure(&error.to_string()),
    }
}
