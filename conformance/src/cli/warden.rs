//! `warden`: the process that a run starts to watch over testees.

use std::path::PathBuf;
use std::process::ExitCode;

/// Options of `warden`.
#[derive(clap::Args)]
pub(super) struct Options {
    /// The folder of the run's cases
    cases: PathBuf,
}

#[cfg(unix)]
pub(super) fn run(options: &Options) -> ExitCode {
    atf_conformance::run::warden::serve(&options.cases)
}

#[cfg(not(unix))]
pub(super) fn run(_: &Options) -> ExitCode {
    eprintln!("atf-conformance: testees are run on Unix systems only");
    ExitCode::from(2)
}
