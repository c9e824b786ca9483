//! A single pass that checks the checksum, the order and the kinds of all events of a file.

use std::num::NonZero;

use atf::Checksum;
use atf_synth::Shape;

use crate::context::Context;
use crate::harness::{Result, Stopwatch, cores, timed};
use crate::input::{Events, Session};

/// Events in the file, 32 bytes each: larger than any cache.
const EVENTS: u64 = 20_000_000;

pub(crate) fn run(context: &mut Context) -> Result<()> {
    let session = Session::new(context, 1, EVENTS, 0, Shape::Independent)?;
    let events = Events::map(&session.index())?;
    let bytes = events.records().as_flattened();
    for (cores, plural, goal) in [(1, "", 0.65), (cores().min(2), "s", 0.95)] {
        let ours = |watch: &mut Stopwatch| {
            // A reader keeps the result of a scan, so each scan needs a new reader.
            let reader = events.reader()?;
            let cores = NonZero::new(cores).unwrap_or(NonZero::<usize>::MIN);
            let scan = watch.time(|| reader.scan_parallel(cores))?;
            let is_counted = scan.event_count == session.count && scan.kinds.unknown == 0;
            if scan.checksum == Checksum::Good && scan.is_ordered() && is_counted {
                Ok(())
            } else {
                Err("the file differs from what was written".into())
            }
        };
        let row = context.row(
            format!("scan events: CRC-32C, order and kinds in one pass, {cores} core{plural}"),
            "sum of the same bytes as u64, 1 core",
            goal,
        );
        row.bytes(bytes.len() as u64)
            .compare(ours, timed(|| Ok::<_, atf::Error>(sum(bytes))))?;
    }
    Ok(())
}

/// Sums the bytes to measure the memory bandwidth.
fn sum(bytes: &[u8]) -> u64 {
    let (words, _) = bytes.as_chunks();
    let add = |sum: u64, word: &[u8; 8]| sum.wrapping_add(u64::from_le_bytes(*word));
    words.iter().fold(0, add)
}
