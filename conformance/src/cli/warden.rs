//! `warden`: the process that a run starts to watch over testees.

use std::path::PathBuf;
use std::process::ExitCode;

/// Options of `warden`.
#[derive(clap::Args)]
pub(super) struct Options {
    /// Run it as a child, and end whatever it leaves behind
    #[arg(long)]
    keep: bool,
    /// The folder of the run's cases
    cases: PathBuf,
}

pub(super) fn run(options: &Options) -> ExitCode {
    #[cfg(unix)]
    return match (options.keep, super::run::kit()) {
        (true, Ok(kit)) => atf_conformance::run::warden::keep(&kit, &options.cases),
        (true, Err(error)) => super::run::failure(&format!("no program: {error}")),
        (false, _) => atf_conformance::run::warden::serve(&options.cases),
    };
    #[cfg(not(unix))]
    return super::run::failure(&format!(
        "{}: testees are run on Unix systems only",
        options.cases.display()
    ));
}
