//! `fingerprint`: shows which source an implementation follows where the sources disagree.

use std::io::{self, Write};
use std::process::ExitCode;

use atf_conformance::fingerprint::fingerprint;
use atf_conformance::report::Printable;
use atf_conformance::run::warden::contained;
use atf_conformance::run::{Candidate, Pool};

use super::interrupt::Interrupt;
use super::run::{Testees, failure};

const AFTER_HELP: &str = "\
Each reading of a disagreement shows in an answer to a case of the corpus, or in the files that a
writer writes for a script. An implementation of both wire versions shows the readings of both.
docs/reference/reconciliation.md has each disagreement with its sources and its decision.

Exit status: 0 each implementation was asked; 2 usage error; 3 one cannot be used.";

/// Options of `fingerprint`.
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
    let interrupt = match Interrupt::listen(&options.interrupt) {
        Ok(interrupt) => interrupt,
        Err(error) => return failure(&error.to_string()),
    };
    let all = contained(|| -> io::Result<u8> {
        let pool = Pool::new(&options)?;
        let mut out = io::stdout().lock();
        let mut status = 0;
        for candidate in &candidates {
            match candidate {
                Candidate::Manifest(manifest) => {
                    write!(out, "{}", fingerprint(&pool, manifest, &|_, _| {})?)?;
                }
                Candidate::Unusable(error) => {
                    writeln!(out, "{}", Printable(error))?;
                    status = 3;
                }
            }
        }
        out.flush()?;
        Ok(status)
    });
    interrupt.settle();
    super::ended(all)
}
