//! `composed`: compares readers on sessions with several faults.

use std::io;
use std::path::PathBuf;
use std::time::Instant;

use atf_safety::composed;
use tempfile::TempDir;

use super::page;

/// The number of sessions that each CI run compares.
const COUNT: u64 = 1000;

/// Options of `composed`.
#[derive(clap::Args)]
pub(super) struct Options {
    /// The number of sessions
    #[arg(long, default_value_t = COUNT)]
    count: u64,
    /// The first session's seed; each session has the next one
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Write the sessions on which readers disagree to this folder
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
}

pub(super) fn run(options: &Options) -> io::Result<bool> {
    let start = Instant::now();
    let folder = TempDir::new()?;
    let readers = composed::readers(folder.path())?;
    let end = options.seed.saturating_add(options.count);
    let disagreements = composed::run(&readers, options.seed..end, options.keep.as_deref())?;
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{} sessions, {} readers, in {seconds:.1} s",
        options.count,
        readers.len()
    );
    for (reader, (count, first)) in &disagreements {
        println!("fault: {reader}: {count} times, first {first}");
    }
    Ok(page::states(&[format!("{COUNT} sessions")]) && disagreements.is_empty())
}
