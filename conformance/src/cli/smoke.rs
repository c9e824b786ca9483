//! `smoke`: checks that an implementation speaks the protocol, before anything is graded.

use std::process::ExitCode;

use atf_conformance::run::{smoke, tasks};
use atf_report::Printable;

use super::exit;
use super::run::{Testees, each};

pub(super) const AFTER_HELP: &str = "\
Runs one simple case for each role, feature and wire version that an implementation claims, and
validates the answers against the protocol's JSON Schemas. Before it grades, `run` does this too,
for the roles that it grades.

Exit status: 0 all speak the protocol; 2 usage error; 3 one does not, or cannot be started.";

pub(super) fn run(testees: &Testees) -> ExitCode {
    let tasks = tasks(|_| false);
    let done = each(testees, |pool, manifest, out| {
        let name = Printable(&manifest.name);
        let result = smoke(pool, manifest, tasks.iter().map(AsRef::as_ref))?;
        match &result {
            Ok(()) => writeln!(out, "{name}: ok")?,
            Err(why) => writeln!(out, "{name}: {}", Printable(why))?,
        }
        Ok(result.is_ok())
    });
    exit(done)
}
