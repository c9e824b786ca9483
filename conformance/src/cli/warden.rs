//! `warden`: supervises implementations under test during a run.

use std::path::PathBuf;
use std::process::ExitCode;

#[derive(clap::Args)]
pub(super) struct Options {
    /// Run the warden as a child and end the processes it leaves behind
    #[arg(long)]
    keep: bool,
    /// The folder of the run's cases
    cases: PathBuf,
}

pub(super) fn run(options: &Options) -> ExitCode {
    #[cfg(unix)]
    return match (options.keep, super::run::kit()) {
        (true, Ok(kit)) => atf_conformance::run::warden::keep(&kit, &options.cases),
        (true, Err(error)) => super::run::failure(&format!("cannot find this program: {error}")),
        (false, _) => atf_conformance::run::warden::serve(&options.cases),
    };
    #[cfg(not(unix))]
    return super::run::failure(&format!(
        "{}: implementations can be graded only on Unix systems",
        options.cases.display()
    ));
}
