//! `faults`: makes every system call fail in turn.

use std::fs;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::Instant;

use atf::rewrite::{RecoverOptions, Report, recover};
use atf_safety::faults::{
    Layer, SECTOR, Tally, disk_full_in_memory, disk_full_on_tmpfs, is_under_layer, recovering,
    run_again, sectors, writing,
};
use clap::ValueEnum;
use tempfile::TempDir;

use super::page;

/// Unless `--all` is set, one in this many recoveries runs. There are seven faults, so each call
/// gets one or two, and repeated calls get all.
const STEP: usize = 5;

/// Options of `faults`.
#[derive(clap::Args)]
pub(super) struct Options {
    /// During `recover`, make each call fail in each way, instead of in one or two ways
    #[arg(long)]
    all: bool,
    /// Try small disks, from one page up to this many pages, with a trace that fills the largest
    #[arg(long, default_value_t = 64)]
    disks: u64,
    /// Recover with a planted bug, which must be found; the first fault ends the run
    #[arg(long, hide = true)]
    plant: Option<Bug>,
}

/// Bugs to plant in a recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Bug {
    /// An error leaves a partial result at the output path.
    HalfMade,
    /// It always reports success.
    Silent,
    /// It loses a file other than those that it reports as unreadable.
    Other,
    /// It removes files that it has read.
    Moves,
    /// It treats a short write as complete.
    Short,
    /// It treats unreadable bytes as zeros.
    Zeros,
}

pub(super) fn run(options: &Options) -> io::Result<bool> {
    if !is_under_layer() {
        let folder = TempDir::new()?;
        let status = run_again(folder.path())?;
        return match status.code() {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(io::Error::other(format!("under the layer: {status}"))),
        };
    }
    let layer = Layer::get()?;
    let mut is_good = true;
    let mut report = |what: &str, start: Instant, tally: &Tally| {
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
        let tally = match bug {
            Bug::Zeros => sectors(layer, &recovers)?,
            _ => recovering(layer, &recovers, 1, 1)?,
        };
        report("recover", Instant::now(), &tally);
        return Ok(is_good);
    }
    let start = Instant::now();
    let recovers =
        |path: &Path, out: &Path, options: &RecoverOptions<'_>| recover(path, out, options);
    let step = if options.all { 1 } else { STEP };
    let recovered = recovering(layer, &recovers, step, usize::MAX)?;
    report("recover", start, &recovered);
    let start = Instant::now();
    let bad_sectors = sectors(layer, &recovers)?;
    report("bad sectors", start, &bad_sectors);
    let start = Instant::now();
    report("writers of files", start, &writing(layer)?);
    let start = Instant::now();
    let in_memory = disk_full_in_memory();
    report("writers on a full disk", start, &in_memory);
    let start = Instant::now();
    let disks = format!("disks of 1 to {} pages", options.disks);
    match disk_full_on_tmpfs(options.disks)? {
        Some(tally) => report(&disks, start, &tally),
        None => println!("SKIPPED: {disks}: cannot mount a file system here"),
    }
    // The number of calls depends on the system, so the page does not state it.
    Ok(is_good
        & page::states(&[
            format!("is searched once: {} runs", bad_sectors.runs),
            format!("{} runs of writers in memory", in_memory.runs),
        ]))
}

/// Copies a session, with zeros in place of unreadable sectors.
fn zeros(path: &Path) -> io::Result<TempDir> {
    let folder = TempDir::new()?;
    fs::create_dir(folder.path().join("thread_7"))?;
    for entry in fs::read_dir(path.join("thread_7"))? {
        let entry = entry?;
        let file = fs::File::open(entry.path())?;
        let size = usize::try_from(entry.metadata()?.len()).map_err(io::Error::other)?;
        let mut bytes = vec![0; size];
        for (sector, offset) in bytes.chunks_mut(SECTOR).zip((0..).step_by(SECTOR)) {
            if file.read_exact_at(sector, offset).is_err() {
                sector.fill(0);
            }
        }
        fs::write(
            folder.path().join("thread_7").join(entry.file_name()),
            bytes,
        )?;
    }
    Ok(folder)
}

fn planted(bug: Bug, path: &Path, out: &Path, options: &RecoverOptions<'_>) -> atf::Result<Report> {
    if bug == Bug::Zeros {
        // If the copy fails, the recovery stays correct, and the test that expects faults fails.
        let copy = zeros(path).ok();
        return recover(copy.as_ref().map_or(path, TempDir::path), out, options);
    }
    let result = recover(path, out, options);
    match (bug, &result) {
        (Bug::HalfMade, Err(_)) => drop(fs::create_dir(out)),
        (Bug::Silent, Err(_)) => {
            // Recover again, and remove a thread from the result.
            let report = recover(path, out, options)?;
            drop(fs::remove_dir_all(out.join("thread_9")));
            return Ok(report);
        }
        (Bug::Other, Ok(report)) if report.to_string().contains("thread_7/orphans.atf: not") => {
            drop(fs::remove_file(out.join("thread_9/index.atf")));
        }
        (Bug::Moves, Ok(_)) => drop(fs::remove_file(path.join("notes.txt"))),
        (Bug::Short, Ok(_)) => {
            // Ignore how many bytes were written.
            let written = fs::File::create(out.join("more"))
                .and_then(|mut file| io::Write::write(&mut file, b"two bytes"));
            drop(written);
        }
        _ => {}
    }
    result
}
