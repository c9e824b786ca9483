//! `warden`: the process that a run starts to watch over testees.

use std::path::PathBuf;
use std::process::ExitCode;

/// Options of `warden`.
#[derive(clap::Args)]
pub(super) struct Options {
    /// The folder of the run's cases
    cases: PathBuf,
}

pub(super) fn run(options: &Options) -> ExitCode {
    #[cfg(unix)]
    return atf_conformance::run::warden::serve(&options.cases);
    #[cfg(not(unix))]
    return super::run::failure(&format!(
        "{}: testees are run on Unix systems only",
        options.cases.display()
    ));
}
