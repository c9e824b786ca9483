//! `races`: changes files while they are being read.

use std::io;
use std::time::Instant;

use atf_safety::Shard;
use atf_safety::races::{self, LIBRARY};

use super::{Part, page};

const COUNT: usize = 200;

/// Options of `races`.
#[derive(clap::Args)]
pub(super) struct Options {
    /// The number of races
    #[arg(long, default_value_t = COUNT)]
    count: usize,
    #[command(flatten)]
    part: Part,
}

pub(super) fn run(options: &Options) -> io::Result<bool> {
    let start = Instant::now();
    let tally = races::run(options.part.shard.range(options.count), LIBRARY)?;
    println!(
        "{} races, {} passes, {} reported errors, in {:.1} s",
        tally.races,
        tally.passes,
        tally.errors,
        start.elapsed().as_secs_f64()
    );
    for fault in &tally.faults {
        println!("fault: {fault}");
    }
    let is_stated = options.count != COUNT
        || options.part.shard != Shard::WHOLE
        || page::states(&[format!("{} races", tally.races)]);
    Ok(tally.faults.is_empty() && is_stated)
}
