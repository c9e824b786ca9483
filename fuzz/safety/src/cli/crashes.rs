//! `crashes`: simulates power loss at every step.

use std::time::Instant;

use atf_safety::crashes;

use super::page;

const LIMIT: u64 = 2048;

/// Options of `crashes`.
#[derive(clap::Args)]
pub(super) struct Options {
    /// The maximum number of states to read per file and step
    #[arg(long, default_value_t = LIMIT)]
    limit: u64,
}

pub(super) fn run(options: &Options) -> bool {
    let start = Instant::now();
    let tally = crashes::run(&crashes::read_index, options.limit);
    println!(
        "{} states, {} payloads with undetectable zeros, {} faults, in {:.1} s",
        tally.states,
        tally.zeroed_payloads,
        tally.fault_count,
        start.elapsed().as_secs_f64()
    );
    for fault in &tally.faults {
        println!("fault: {fault}");
    }
    let is_stated =
        options.limit != LIMIT || page::states(&[format!("{} distinct states", tally.states)]);
    tally.fault_count == 0 && is_stated
}
