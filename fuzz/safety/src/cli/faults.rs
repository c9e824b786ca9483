//! `faults`: every call of the operating system fails in turn.

use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use atf::rewrite::{RecoverOptions, Report, recover};
use atf_safety::faults::{
    Layer, Tally, disk_full_in_memory, disk_full_on_tmpfs, is_under_layer, recovering, run_again,
    writing,
};
use clap::ValueEnum;

/// Options of `faults`.
#[derive(clap::Args)]
pub(super) struct Options {
    /// How many sizes of a small disk: from one page to as many, with a trace that fills the last
    #[arg(long, default_value_t = 64)]
    disks: u64,
    /// Recover with a bug, which must be found; the first fault ends the run
    #[arg(long, hide = true)]
    plant: Option<Bug>,
}

/// Bugs that a recovery could have.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Bug {
    /// An error leaves what was made so far at the place of the result.
    HalfMade,
    /// It says that all is well, whatever happened.
    Silent,
    /// It removes what it has read.
    Moves,
    /// It takes a write for done that took a part.
    Short,
}

pub(super) fn run(options: &Options) -> ExitCode {
    match all(options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("atf-safety: {error}");
            ExitCode::from(3)
        }
    }
}

fn all(options: &Options) -> io::Result<bool> {
    if !is_under_layer() {
        let folder = tempfile::TempDir::new()?;
        let status = run_again(folder.path())?;
        return match status.code() {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(io::Error::other(format!("under the layer: {status}"))),
        };
    }
    let layer = Layer::get()?;
    let mut is_good = true;
    let mut tell = |what: &str, start: Instant, tally: &Tally| {
        let seconds = start.elapsed().as_secs_f64();
        let calls = match tally.calls {
            0 => String::new(),
            calls => format!(" on {calls} calls"),
        };
        println!("{what}: {} runs{calls} in {seconds:.1} s", tally.runs);
        for fault in tally.faults.iter().take(40) {
            println!("  fault: {}", fault.lines().next().unwrap_or_default());
        }
        is_good &= tally.faults.is_empty();
    };
    if let Some(bug) = options.plant {
        let recovers = |path: &Path, out: &Path, options: &RecoverOptions<'_>| {
            planted(bug, path, out, options)
        };
        tell("recover", Instant::now(), &recovering(layer, &recovers, 1)?);
        return Ok(is_good);
    }
    let start = Instant::now();
    let recovers =
        |path: &Path, out: &Path, options: &RecoverOptions<'_>| recover(path, out, options);
    tell("recover", start, &recovering(layer, &recovers, usize::MAX)?);
    let start = Instant::now();
    tell("writers of files", start, &writing(layer)?);
    let start = Instant::now();
    tell("writers on a full disk", start, &disk_full_in_memory());
    let start = Instant::now();
    let disks = format!("disks of 1 to {} pages", options.disks);
    match disk_full_on_tmpfs(options.disks)? {
        Some(tally) => tell(&disks, start, &tally),
        None => println!("SKIPPED: {disks}: nothing can be mounted here"),
    }
    Ok(is_good)
}

/// Recovers with a bug.
fn planted(bug: Bug, path: &Path, out: &Path, options: &RecoverOptions<'_>) -> atf::Result<Report> {
    let result = recover(path, out, options);
    match (bug, &result) {
        (Bug::HalfMade, Err(_)) => drop(fs::create_dir(out)),
        (Bug::Silent, Err(_)) => {
            // What comes out has a thread less.
            let report = recover(path, out, options)?;
            drop(fs::remove_dir_all(out.join("thread_9")));
            return Ok(report);
        }
        (Bug::Moves, Ok(_)) => drop(fs::remove_file(path.join("notes.txt"))),
        (Bug::Short, Ok(_)) => {
            // What it returns is how much of it went.
            let written = fs::File::create(out.join("more"))
                .and_then(|mut file| io::Write::write(&mut file, b"two bytes"));
            drop(written);
        }
        _ => {}
    }
    result
}
