//! Finding the events of a detail file, whose lengths vary.

use atf::Checksum;
use atf::detail::DetailReader;
use atf_synth::Shape;

use crate::context::Context;
use crate::harness::{Result, checked};
use crate::input::{HEADER_SIZE, Session, Warm};
use crate::table::millions;

/// Events, each with a detail.
const EVENTS: u64 = 10_000_000;

pub(crate) fn run(context: &mut Context) -> Result<()> {
    let session = Session::new(context, 1, EVENTS, 1000, Shape::Independent)?;
    let path = session.thread().join("detail.atf");
    let map = Warm::map(&path)?;
    let end = DetailReader::open(&path)?.events_end() as usize;
    let count = session.count;
    let ours = checked((count, Checksum::Good), || {
        let reader = DetailReader::from_source(map.clone())?;
        Ok::<_, atf::Error>((reader.event_count(), reader.checksum()?))
    });
    let walk = checked(count, || {
        Ok::<_, atf::Error>(hop(&map.bytes()[..end]).len() as u64)
    });
    let row = context.row(
        format!(
            "table of the offsets of {} detail events, CRC-32C verified",
            millions(count)
        ),
        "walk from header to header, no checksum",
        6.0,
    );
    row.each(count, "event").compare(ours, walk)
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
