//! `exhaustive`: tries every truncation and every bit flip of the corpus.

use std::io;
use std::num::NonZero;
use std::path::Path;
use std::time::Instant;
use std::{fs, thread};

use atf_safety::Shard;
use atf_safety::exhaustive::{self, LIBRARY, Scope, Session, Tally, unnoticed};

use super::{Part, page};

/// Options of `exhaustive`.
#[derive(clap::Args)]
pub(super) struct Options {
    /// Skip nothing: also flip every bit of large files and every two adjacent bits, and recover
    /// everything
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    part: Part,
    /// Write the list of bits that no reader can verify from the file alone
    #[arg(long, conflicts_with = "shard")]
    bless: bool,
}

pub(super) fn run(options: &Options) -> io::Result<bool> {
    let start = Instant::now();
    let files = exhaustive::files();
    let scope = if options.all {
        Scope::All
    } else {
        Scope::Quick
    };
    let threads = thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
    let tally = exhaustive::run(&LIBRARY, &files, scope, options.part.shard, threads);
    let bytes: usize = files.iter().map(|file| file.bytes.len()).sum();
    print(
        &format!("{} files of {bytes} bytes", files.len()),
        &tally,
        start,
    );
    let start = Instant::now();
    let sessions = exhaustive::sessions();
    let manifests =
        exhaustive::run_manifests(&LIBRARY, &sessions, scope, options.part.shard, threads);
    let bytes: usize = sessions.iter().map(Session::size).sum();
    let what = format!("{} manifests of {bytes} bytes", sessions.len());
    print(&what, &manifests, start);
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("unnoticed.txt");
    let text = unnoticed::text(&tally.unnoticed);
    let is_listed = if options.bless {
        fs::write(&list, &text)?;
        true
    } else {
        fs::read_to_string(&list).is_ok_and(|committed| match options.part.shard {
            Shard::WHOLE => committed == text,
            _ => unnoticed::are_listed(&tally.unnoticed, &committed),
        })
    };
    if !is_listed {
        println!("fault: {} is outdated; expected:\n{text}", list.display());
    }
    let is_stated = options.part.shard != Shard::WHOLE
        || match scope {
            Scope::Quick => page::states(&[
                format!("{} cuts of {} files", tally.cuts, files.len()),
                format!("{} flips; {} of", tally.flips, tally.recovered),
                format!("{} cuts and {} flips", manifests.cuts, manifests.flips),
                format!("{} distinct manifests", sessions.len()),
            ]),
            Scope::All => page::states(&[format!("`--all`: {} flips", tally.flips)]),
        };
    Ok(tally.faults.is_empty() && manifests.faults.is_empty() && is_listed && is_stated)
}

/// Prints the counts and the faults.
fn print(what: &str, tally: &Tally, start: Instant) {
    println!(
        "{what}: {} cuts, {} flips ({} left to --all), {} pairs of bits, {} recovered, {} explained, in {:.1} s",
        tally.cuts,
        tally.flips,
        tally.skipped_flips,
        tally.pairs,
        tally.recovered,
        tally.explained,
        start.elapsed().as_secs_f64(),
    );
    for (file, (count, first)) in &tally.faults {
        println!("fault: {file}: {count} times, first {first}");
    }
}
