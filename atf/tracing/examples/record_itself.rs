//! Records itself and prints its functions, ordered by the time they took.
//!
//! ```sh
//! cargo run --release -p atf-tracing --example record_itself -- FOLDER
//! ```

use std::cmp::Reverse;
use std::collections::HashMap;
use std::error::Error;
use std::thread;

use atf::session::SessionReader;
use atf::spans::{CallStack, Paired};
use tracing::instrument;

#[instrument(skip_all)]
fn answer(requests: u64) -> u64 {
    (0..requests)
        .map(|request| parse(request) + load(request))
        .sum()
}

#[instrument(skip_all)]
fn parse(request: u64) -> u64 {
    (0..request % 7).map(|word| hash(word, 40)).sum()
}

#[instrument(skip_all)]
fn load(request: u64) -> u64 {
    hash(request, 400)
}

#[instrument(skip_all)]
fn hash(value: u64, rounds: u32) -> u64 {
    let mix = |hash: u64, round| (hash ^ u64::from(round)).wrapping_mul(0x0100_0000_01b3);
    (0..rounds).fold(value, mix) % 10
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1);
    let recording = atf_tracing::init(folder.ok_or("usage: record_itself FOLDER")?)?;
    thread::scope(|scope| {
        for requests in [1_000, 500] {
            scope.spawn(move || answer(requests));
        }
    });
    let summary = recording.stop()?;
    let (events, lost) = (summary.totals.event_count, summary.lost_events);
    println!(
        "{}: {events} events, {lost} lost",
        recording.path().display()
    );

    // The number of calls and nanoseconds per function.
    let mut totals: HashMap<u64, (u64, u64)> = HashMap::new();
    let mut add = |paired| {
        if let Paired::Span(span) = paired {
            let total = totals.entry(span.function_id).or_default();
            *total = (total.0 + 1, total.1 + span.duration_ns().unwrap_or(0));
        }
    };
    let session = SessionReader::open(recording.path())?;
    let mut stacks: HashMap<u32, CallStack> = HashMap::new();
    for event in session.merge().events() {
        let event = event?;
        let stack = stacks.entry(event.thread).or_default();
        stack.push(event.seq, &event.event, &mut add);
    }
    let mut totals: Vec<_> = totals.into_iter().collect();
    totals.sort_by_key(|(function, (_, ns))| (Reverse(*ns), *function));
    println!("{:>12} {:>8}  function", "time in ns", "calls");
    for (function, (calls, ns)) in totals {
        println!(
            "{ns:>12} {calls:>8}  {}",
            session.symbols().function(function)
        );
    }
    Ok(())
}
