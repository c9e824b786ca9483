//! `fingerprint`: shows which source an implementation follows where the sources disagree.

use std::process::ExitCode;

use atf_conformance::fingerprint::fingerprint;

use super::run::{Testees, each};

pub(super) const AFTER_HELP: &str = "\
Each reading of a disagreement shows in an answer to a case of the corpus, or in the files that a
writer writes for a script. An implementation of both wire versions shows the readings of both.
docs/reference/reconciliation.md has each disagreement with its sources and its decision.

Exit status: 0 each implementation was asked; 2 usage error; 3 one cannot be used.";

pub(super) fn run(testees: &Testees) -> ExitCode {
    super::ended(each(testees, |pool, manifest, out| {
        write!(out, "{}", fingerprint(pool, manifest)?)?;
        Ok(true)
    }))
}
