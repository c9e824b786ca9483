//! Finding the events of a detail file, whose lengths vary.

use std::hint::black_box;

use atf::Checksum;
use atf::detail::DetailReader;
use atf_synth::Synth;

use crate::context::Context;
use crate::harness::{Result, Stopwatch, Time, compare};
use crate::input::{self, HEADER_SIZE, Warm};
use crate::table::{Amount, Row, millions};

/// Adds the rows for the table of offsets.
pub(crate) fn run(context: &mut Context) -> Result<()> {
    for count in [1_000_000, 10_000_000].map(|count| context.events(count)) {
        let synth = Synth {
            threads: 1,
            events_per_thread: count,
            detail_per_mille: 1000,
            ..Synth::default()
        };
        let session = input::session(context, "detail", &synth)?;
        let path = input::index_file(&session).with_file_name("detail.atf");
        let map = Warm::map(&path)?;
        let end = DetailReader::open(&path)?.events_end() as usize;

        let ours = |watch: &mut Stopwatch| {
            let reader = watch.time(|| -> atf::Result<_> {
                let reader = DetailReader::from_source(map.clone())?;
                let checksum = reader.checksum()?;
                Ok((reader, checksum))
            })?;
            let (reader, checksum) = black_box(reader);
            if (reader.event_count(), checksum) != (count, Checksum::Good) {
                return Err("the file differs from what was written".into());
            }
            Ok(())
        };
        let baseline = |watch: &mut Stopwatch| {
            let offsets = watch.time(|| hop(&map.bytes()[..end]));
            if black_box(offsets).len() as u64 != count {
                return Err("the walk missed an event".into());
            }
            Ok(())
        };
        let comparison = compare(context.pairs, Time::Wall, ours, baseline)?;
        context.report.add(Row {
            work: format!(
                "table of the offsets of {} detail events, CRC-32C verified",
                millions(count)
            ),
            baseline: "walk from header to header, no checksum",
            goal: Some(6.0),
            comparison,
            amount: Amount::Each(count, "event"),
        });
        std::fs::remove_dir_all(session)?;
    }
    Ok(())
}

/// Returns the offset of each event, by adding each event's length to its offset.
fn hop(events: &[u8]) -> Vec<u64> {
    let mut offsets = Vec::new();
    let mut offset = HEADER_SIZE;
    while let Some((length, _)) = events[offset..].split_first_chunk() {
        offsets.push(offset as u64);
        offset += u32::from_le_bytes(*length) as usize;
    }
    offsets
}
