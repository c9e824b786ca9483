//! A walk over `ring.atf`: a header and two areas, each of which contains the end of one of the
//! other two files.

use atf::Wire;
use atf::detail::DetailEventHeader;
use atf::index::IndexEvent;

use super::detail;
use super::walk::Walk;
use crate::format::Shape;
use crate::output::Failure;

/// The maximum size of an area in bytes, as defined by the format.
const LARGEST: u64 = 16 << 20;

pub(super) fn explain(walk: &mut Walk<'_>) -> Result<(), Failure> {
    let wire = detail::wire_of(walk)?;
    let shape = Shape::new("ring_header", wire);
    let header = walk.peek(shape.size())?.to_vec();
    let number = |name| shape.number(&header, name);
    walk.record(shape, None, walk.size(), "")?;
    for (name, capacity, size) in [
        ("index area", "index_capacity", "index_size"),
        ("detail area", "detail_capacity", "detail_size"),
    ] {
        let (capacity, size) = (number(capacity), number(size));
        let end = walk.place().saturating_add(capacity);
        if end > walk.size() || capacity > LARGEST || size > capacity {
            let about = "the sizes in the header do not match the file";
            if walk.place() < walk.size() {
                walk.wrong(walk.size(), name, about)?;
            }
            // A header that the writer had not yet stored is not damage.
            walk.is_damaged |= walk.size() >= shape.size();
            return Ok(());
        }
        let used = walk.place().saturating_add(size);
        match name {
            "index area" => index_events(walk, wire, used)?,
            _ => detail_events(walk, wire, used)?,
        }
        walk.opaque(end, name, "contains no events")?;
    }
    Ok(())
}

fn index_events(walk: &mut Walk<'_>, wire: Wire, end: u64) -> Result<(), Failure> {
    let (start, size) = (walk.place(), IndexEvent::SIZE as u64);
    let shape = Shape::new("index_event", wire);
    let count = end.saturating_sub(start) / size;
    let start_of = |seq: u64| start.saturating_add(seq * size);
    walk.events(count, "the index area", start_of, |walk, seq| {
        walk.record(shape, Some(seq), end, "")
    })?;
    walk.opaque(end, "trailing bytes", "not a whole event")
}

fn detail_events(walk: &mut Walk<'_>, wire: Wire, end: u64) -> Result<(), Failure> {
    // The offsets of all events, then the end of the last one. An area is small, so this is a short
    // list.
    let mut places = vec![walk.place()];
    let mut place = walk.place();
    let header = DetailEventHeader::SIZE as u64;
    let shape = Shape::new("detail_event_header", wire);
    while end.saturating_sub(place) >= header {
        let length = shape.number(walk.peek_at(place, header)?, "total_length");
        if !(header..=end - place).contains(&length) {
            break;
        }
        place += length;
        places.push(place);
    }
    let count = places.len() as u64 - 1;
    let start_of = |seq: u64| places[usize::try_from(seq).unwrap_or(0)];
    walk.events(count, "the detail area", start_of, |walk, seq| {
        detail::event(walk, wire, seq, start_of(seq + 1))
    })?;
    if place < end {
        walk.wrong(end, "no event", "its total_length does not fit in the area")
    } else {
        Ok(())
    }
}
