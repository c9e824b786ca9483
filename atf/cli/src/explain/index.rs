//! A walk over `index.atf`.

use std::path::Path;

use atf::check::Kind;
use atf::index::{IndexEvent, IndexReader};

use super::detail::wire_of;
use super::ending;
use super::walk::Walk;
use crate::format::Shape;
use crate::output::Failure;
use crate::text::Counted;

const EVENT_SIZE: u64 = IndexEvent::SIZE as u64;

pub(super) fn explain(walk: &mut Walk<'_>, path: &Path) -> Result<(), Failure> {
    let wire = wire_of(walk)?;
    let reader = IndexReader::open(path);
    let first = reader.as_ref().ok().and_then(|reader| reader.get(0).ok());
    walk.start_ns = first.flatten().map(|event| event.timestamp_ns);
    walk.record(Shape::of("index_header", wire), None, walk.size(), "")?;
    let reader = match reader {
        Ok(reader) => reader,
        Err(error) => return walk.wrong(walk.size(), "unreadable", &error.to_string()),
    };
    walk.opaque(
        reader.header().events_offset,
        "gap",
        "between the header and events_offset",
    )?;
    // Problems with events are found only by reading all of them.
    let scanned = reader.scan();
    let problems = scanned.err().into_iter().chain(reader.problems());
    walk.tell(Kind::Index, problems);
    events(walk, &reader)?;
    end(walk, &reader)
}

fn events(walk: &mut Walk<'_>, reader: &IndexReader) -> Result<(), Failure> {
    let shape = Shape::of("index_event", reader.wire());
    let count = reader.event_count();
    let has_gap = reader.holes().next().is_some();
    for range in walk.select(count, "the file") {
        let start = reader.event_offset(range.start);
        let skipped = start.unwrap_or_else(|| reader.events_end());
        let left_out = skipped.saturating_sub(walk.place()) / EVENT_SIZE;
        walk.left_out(skipped, &Counted(left_out, "event").to_string())?;
        for seq in range {
            let is_zero = walk.peek(EVENT_SIZE)?.iter().all(|byte| *byte == 0);
            let about = if is_zero && has_gap {
                "all zeros: a gap"
            } else {
                ""
            };
            walk.record(shape, Some(seq), reader.events_end(), about)?;
        }
    }
    Ok(())
}

/// Shows the bytes after the last event.
fn end(walk: &mut Walk<'_>, reader: &IndexReader) -> Result<(), Failure> {
    let footer = Shape::of("index_footer", reader.wire());
    let Some(left) = ending::footer(walk, footer, reader.completeness())? else {
        return Ok(());
    };
    // A torn event is either before the zeros or, at the end of the file, after them.
    let piece = walk.peek(left.trailing_bytes.min(EVENT_SIZE))?;
    let is_first = piece.iter().any(|byte| *byte != 0);
    if is_first {
        let event = Shape::of("index_event", reader.wire());
        let end = walk.place().saturating_add(left.trailing_bytes);
        walk.record(event, Some(reader.event_count()), end, "")?;
    }
    let zeros_end = walk.place().saturating_add(left.zero_tail_bytes);
    walk.opaque(zeros_end, "zero tail", "preallocated or never written")?;
    walk.opaque(walk.size(), "trailing bytes", "not a whole event")
}
