//! `hostile`: measures the cost of processing traces crafted to be expensive.

use std::fs;
use std::hint::black_box;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use atf_safety::hostile::{
    self, FIXED, GROWTH, INPUTS, Input, PER_BYTE, PER_MANIFEST_BYTE, PER_THREAD_BYTE,
};
use tempfile::TempDir;

use super::page;
use crate::MEMORY;

/// Options of `hostile`.
#[derive(clap::Args)]
pub(super) struct Options {
    /// The size of each trace in bytes
    #[arg(long, default_value_t = 8 << 20)]
    size: usize,
    /// Also count instructions under valgrind, for traces of 256 and 512 KiB
    #[arg(long)]
    instructions: bool,
    /// Only process one trace
    #[arg(long, hide = true)]
    only: Option<String>,
    /// Plant a bug of this kind, which must be found
    #[arg(long, hide = true)]
    plant: Option<Bug>,
}

/// Bugs to plant in a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Bug {
    /// It allocates memory for a count in the file.
    Memory,
    /// It compares every pair of bytes.
    Time,
}

/// The sizes of the two traces to compare.
const SIZES: [usize; 2] = [256 << 10, 512 << 10];

pub(super) fn run(options: &Options) -> io::Result<bool> {
    if let Some(name) = &options.only {
        let input = INPUTS.iter().find(|input| input.name == name);
        let input = input.ok_or(io::ErrorKind::NotFound)?;
        one(input, options)?;
        return Ok(true);
    }
    let start = Instant::now();
    let mut is_good = true;
    for input in &INPUTS {
        let (size, peak) = one(input, options)?;
        let bound = hostile::bound(input, size);
        if peak > bound {
            is_good = false;
            println!(
                "fault: {}: {peak} bytes of memory for {size} bytes, the limit is {bound}",
                input.name
            );
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{} traces of about {} bytes: memory in {seconds:.1} s",
        INPUTS.len(),
        options.size
    );
    is_good &= page::states(&[
        format!("{} traces of 1 MiB", INPUTS.len()),
        format!(
            "{} MiB plus {PER_BYTE} bytes per byte of the trace ({PER_MANIFEST_BYTE} in a manifest {PER_THREAD_BYTE} in",
            FIXED >> 20
        ),
    ]);
    if options.instructions {
        is_good &= instructions(options)?;
    }
    Ok(is_good)
}

/// Processes a trace, and returns the trace's size and the peak memory use.
fn one(input: &Input, options: &Options) -> io::Result<(usize, usize)> {
    let folder = TempDir::new()?;
    let (session, out) = (folder.path().join("in"), folder.path().join("out"));
    fs::create_dir(&session)?;
    let size = hostile::write(input, options.size, &session)?;
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    hostile::work(&session, &out);
    match options.plant {
        // Hidden from the optimizer, which may leave out memory that nothing uses.
        Some(Bug::Memory) => drop(black_box(vec![1_u8; hostile::bound(input, size) + 1])),
        Some(Bug::Time) => pairs(&session)?,
        None => {}
    }
    Ok((size, MEMORY.peak_usage().saturating_sub(before)))
}

fn pairs(session: &Path) -> io::Result<()> {
    let bytes = fs::read(session.join("thread_7/index.atf"))?;
    let bytes = bytes.get(..bytes.len() / 16).unwrap_or_default();
    let same = bytes
        .iter()
        .flat_map(|one| bytes.iter().map(move |other| one == other));
    black_box(same.filter(|same| *same).count());
    Ok(())
}

/// Compares the number of instructions for each trace with the number for a trace of twice the
/// size.
fn instructions(options: &Options) -> io::Result<bool> {
    let start = Instant::now();
    let mut is_good = true;
    let mut worst = (0.0, "");
    // Measure the cost of starting the program and processing the smallest trace.
    let [nothing, rest @ ..] = INPUTS.each_ref();
    let base = count(nothing, 0, options)?;
    for input in rest {
        let small = count(input, SIZES[0], options)?.saturating_sub(base);
        let large = count(input, SIZES[1], options)?.saturating_sub(base);
        #[allow(clippy::cast_precision_loss, reason = "a ratio, to two digits")]
        let growth = large as f64 / small.max(1) as f64;
        if growth > worst.0 {
            worst = (growth, input.name);
        }
        // Small numbers are dominated by the cost of starting the program.
        if growth > GROWTH && large > base / 10 {
            is_good = false;
            println!(
                "fault: {}: {small} instructions for {} bytes, {large} for {}",
                input.name, SIZES[0], SIZES[1]
            );
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{} traces of twice the size: at most {:.2} times the instructions ({}), in {seconds:.1} s",
        rest.len(),
        worst.0,
        worst.1
    );
    Ok(is_good)
}

/// Counts the instructions that this program executes for a trace.
fn count(input: &Input, size: usize, options: &Options) -> io::Result<u64> {
    let size = format!("--size={size}");
    let mut command = Command::new("valgrind");
    command
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe()?)
        .args(["hostile", "--only", input.name, &size]);
    if options.plant == Some(Bug::Time) {
        command.args(["--plant", "time"]);
    }
    let output = command.output()?;
    let text = String::from_utf8_lossy(&output.stderr);
    let collected = text
        .lines()
        .find_map(|line| line.split_once("Collected : "));
    let number = collected.and_then(|(_, number)| number.trim().parse().ok());
    number.ok_or_else(|| io::Error::other(format!("valgrind printed no count: {text}")))
}
