//! `limits`: tests resource limits of the process, and unusual files.

use std::io;
use std::process::{Command, ExitCode};
use std::time::Instant;

use atf_safety::limits::Case;
use clap::ValueEnum;
use tempfile::TempDir;

use super::page;

/// Options of `limits`.
#[derive(clap::Args)]
pub(super) struct Options {
    /// Run one case, in this process
    #[arg(long, hide = true)]
    only: Option<Case>,
    /// Plant a bug, which must be found
    #[arg(long, hide = true)]
    plant: bool,
}

pub(super) fn run(options: &Options) -> ExitCode {
    let done = match options.only {
        Some(case) => one(case, options.plant).map(|()| true),
        None => all(options),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(3)
        }
    }
}

fn one(case: Case, has_bug: bool) -> io::Result<()> {
    let folder = TempDir::new()?;
    case.run(folder.path(), has_bug)
}

/// Runs each case in a separate process.
fn all(options: &Options) -> io::Result<bool> {
    let start = Instant::now();
    let mut is_good = true;
    for case in Case::ALL {
        let name = case.to_possible_value();
        let name = name.as_ref().map_or("", |value| value.get_name());
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["limits", "--only", name]);
        if options.plant {
            command.arg("--plant");
        }
        let output = command.output()?;
        if !output.status.success() {
            is_good = false;
            let why = String::from_utf8_lossy(&output.stderr);
            println!("fault: {name}: {}: {}", output.status, why.trim_end());
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("{} cases in {seconds:.1} s", Case::ALL.len());
    Ok(is_good & page::states(&[format!("{} cases each in", Case::ALL.len())]))
}
