//! A single pass that checks the checksum, the order and the kinds of all events of a file.

use std::hint::black_box;
use std::num::NonZero;
use std::thread::ScopedJoinHandle;

use atf::Checksum;
use atf::index::Scan;
use atf_synth::Synth;

use crate::context::Context;
use crate::harness::{Result, Stopwatch, Time, compare};
use crate::input::{self, EVENT_SIZE, Events};
use crate::machine;
use crate::table::{Amount, Row};

/// Events in the file, 32 bytes each: more than any cache holds.
const EVENTS: u64 = 20_000_000;

/// Adds the rows for scanning.
pub(crate) fn run(context: &mut Context) -> Result<()> {
    let count = context.events(EVENTS);
    let synth = Synth {
        threads: 1,
        events_per_thread: count,
        detail_per_mille: 0,
        ..Synth::default()
    };
    let session = input::session(context, "scan", &synth)?;
    let path = input::index_file(&session);
    let events = Events::map(&path)?;
    let bytes = events.records().as_flattened();
    let two = machine::cores().min(2);
    for (cores, goal) in [(1, 0.65), (two, 0.95)] {
        let ours = |watch: &mut Stopwatch| {
            // A reader keeps the result of a scan, so each scan needs a new reader.
            let reader = events.reader()?;
            let cores = NonZero::new(cores).unwrap_or(NonZero::<usize>::MIN);
            let scan = watch.time(|| reader.scan_parallel(cores))?;
            check(&scan, count)
        };
        let baseline = |watch: &mut Stopwatch| {
            black_box(watch.time(|| sum(bytes)));
            Ok(())
        };
        let comparison = compare(context.pairs, Time::Wall, ours, baseline)?;
        let plural = if cores == 1 { "" } else { "s" };
        context.report.add(Row {
            work: format!(
                "scan events: CRC-32C, order and kinds in one pass, {cores} core{plural}"
            ),
            baseline: "sum of the same bytes as u64, 1 core",
            goal: Some(goal),
            comparison,
            amount: Amount::Bytes(bytes.len() as u64),
        });
    }
    let on_all = |watch: &mut Stopwatch| {
        black_box(watch.time(|| sum_on(two, bytes)));
        Ok(())
    };
    let on_one = |watch: &mut Stopwatch| {
        black_box(watch.time(|| sum(bytes)));
        Ok(())
    };
    context.report.add(Row {
        work: format!("sum of the same bytes as u64, {two} cores"),
        baseline: "the same on 1 core",
        goal: None,
        comparison: compare(context.pairs, Time::Wall, on_all, on_one)?,
        amount: Amount::Bytes(bytes.len() as u64),
    });
    std::fs::remove_dir_all(session)?;
    Ok(())
}

fn check(scan: &Scan, count: u64) -> Result<()> {
    let is_counted = scan.event_count == count && scan.kinds.unknown == 0;
    let as_written = scan.checksum == Checksum::Good && scan.is_ordered() && is_counted;
    if as_written {
        Ok(())
    } else {
        Err("the file differs from what was written".into())
    }
}

/// Sums the bytes to measure the memory bandwidth.
fn sum(bytes: &[u8]) -> u64 {
    let (words, _) = bytes.as_chunks();
    let add = |sum: u64, word: &[u8; 8]| sum.wrapping_add(u64::from_le_bytes(*word));
    words.iter().fold(0, add)
}

/// Sums the bytes on several cores to measure their memory bandwidth.
fn sum_on(cores: usize, bytes: &[u8]) -> u64 {
    let size = bytes.len().div_ceil(cores).next_multiple_of(EVENT_SIZE);
    std::thread::scope(|scope| {
        let parts = bytes.chunks(size);
        let sums: Vec<_> = parts.map(|part| scope.spawn(|| sum(part))).collect();
        let sums = sums.into_iter().flat_map(ScopedJoinHandle::join);
        sums.fold(0, u64::wrapping_add)
    })
}
