//! `limits`: tests resource limits of the process, and unusual files.

use std::io;
use std::process::Command;
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

pub(super) fn run(options: &Options) -> io::Result<bool> {
    let Some(case) = options.only else {
        return all(options);
    };
    case.run(TempDir::new()?.path(), options.plant)?;
    Ok(true)
}

/// Runs each case in a separate process.
fn all(options: &Options) -> io::Result<bool> {
    let start = Instant::now();
    let mut is_good = true;
    let cases = Case::value_variants();
    for case in cases {
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
    println!("{} cases in {seconds:.1} s", cases.len());
    Ok(is_good & page::states(&[format!("{} cases each in", cases.len())]))
}
