//! Walks over each kind of file.

use std::path::Path;

use atf::check::{detail_repeats, index_repeats};
use atf::detail::{DetailEventHeader, DetailReader, FunctionPayload};
use atf::index::{IndexEvent, IndexReader};
use atf::wire::Record;
use atf::{Completeness, Region, RegionKind, Wire};

use super::walk::Walk;
use crate::format::Shape;
use crate::output::Failure;

/// The size in bytes of the longest payload that has fields.
const LARGEST_PAYLOAD: u64 = FunctionPayload::SIZE as u64 + u16::MAX as u64;
/// The maximum size in bytes of an area of a `ring.atf`, as defined by the format.
const LARGEST_AREA: u64 = 16 << 20;

type Shown = Result<(), Failure>;

/// Shows an `index.atf`.
pub(super) fn index(walk: &mut Walk<'_>, path: &Path) -> Shown {
    let wire = wire_of(walk)?;
    let reader = IndexReader::open(path);
    let first = reader.as_ref().ok().and_then(|reader| reader.get(0).ok());
    walk.start_ns = first.flatten().map(|event| event.timestamp_ns);
    walk.record(Shape::new("index_header", wire), None, walk.size(), "")?;
    let reader = match reader {
        Ok(reader) => reader,
        Err(error) => return walk.wrong(walk.size(), "unreadable", &error.to_string()),
    };
    // Finding problems with events requires reading all of them.
    let scanned = reader.scan().err().into_iter();
    let errors: Vec<_> = scanned.chain(reader.problems()).collect();
    walk.report(path, &errors, index_repeats(&reader)?);
    let footer = Shape::new("index_footer", reader.wire());
    regions(
        walk,
        &reader.regions(),
        (footer, reader.completeness()),
        |walk| index_events(walk, &reader),
        |walk, region| torn_index_event(walk, &reader, region),
    )
}

/// Shows a `detail.atf`.
pub(super) fn detail(walk: &mut Walk<'_>, path: &Path) -> Shown {
    let wire = wire_of(walk)?;
    let reader = DetailReader::open(path);
    let first = reader.as_ref().ok().and_then(|reader| reader.get(0).ok());
    walk.start_ns = first.flatten().map(|event| event.header.timestamp);
    walk.record(Shape::new("detail_header", wire), None, walk.size(), "")?;
    let reader = match reader {
        Ok(reader) => reader,
        Err(error) => return walk.wrong(walk.size(), "unreadable", &error.to_string()),
    };
    walk.report(path, &reader.problems()?, detail_repeats(&reader)?);
    let footer = Shape::new("detail_footer", reader.wire());
    regions(
        walk,
        &reader.regions(),
        (footer, reader.completeness()),
        |walk| detail_events(walk, &reader),
        |walk, region| torn_detail_event(walk, &reader, region),
    )
}

/// Shows a `ring.atf`: a header and two areas, each of which contains the end of one of the other
/// two files.
pub(super) fn ring(walk: &mut Walk<'_>) -> Shown {
    let wire = wire_of(walk)?;
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
        if end > walk.size() || capacity > LARGEST_AREA || size > capacity {
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
            "index area" => index_area(walk, wire, used)?,
            _ => detail_area(walk, wire, used)?,
        }
        walk.opaque(end, name, "contains no events")?;
    }
    Ok(())
}

/// Returns the wire version in a header, or 1 if it is unknown.
fn wire_of(walk: &mut Walk<'_>) -> Result<Wire, Failure> {
    let header = walk.peek(64)?;
    // The field has the same offset in every header.
    let version = Record::DetailHeader.field(Wire::V1, "version");
    let version = version.and_then(|field| header.get(field.offset).copied());
    Ok(version.and_then(Wire::from_version).unwrap_or(Wire::V1))
}

/// Shows all regions of an index or a detail file in order. `events` shows the events, and
/// `torn_event` a region after them that is not a complete event.
fn regions(
    walk: &mut Walk<'_>,
    regions: &[Region],
    (footer, completeness): (Shape, &Completeness),
    events: impl FnOnce(&mut Walk<'_>) -> Shown,
    torn_event: impl Fn(&mut Walk<'_>, &Region) -> Shown,
) -> Shown {
    let first = regions.partition_point(|region| region.kind < RegionKind::Events);
    let (before, after) = regions.split_at(first);
    for part in before {
        region(walk, part, footer, completeness)?;
    }
    events(walk)?;
    for part in after {
        match part.kind {
            RegionKind::NoEvent => torn_event(walk, part)?,
            _ => region(walk, part, footer, completeness)?,
        }
    }
    Ok(())
}

/// Shows a region that does not consist of events or of an incomplete event after them.
fn region(
    walk: &mut Walk<'_>,
    region: &Region,
    footer: Shape,
    completeness: &Completeness,
) -> Shown {
    let end = region.end();
    match region.kind {
        RegionKind::Gap => walk.opaque(end, "gap", "between the header and events_offset"),
        RegionKind::Footer | RegionKind::TornFooter => {
            let about = match completeness {
                Completeness::HeaderNotUpdated => "verified, but the header was never rewritten",
                _ => "",
            };
            walk.record(footer, None, end, about)
        }
        RegionKind::DamagedFooter => {
            walk.is_damaged = true;
            let problems = match completeness {
                Completeness::DamagedFooter { problems, .. } => problems.as_slice(),
                _ => &[],
            };
            let problems: Vec<_> = problems.iter().map(ToString::to_string).collect();
            let about = format!("damaged: {}", problems.join(", "));
            walk.record(footer, None, end, &about)
        }
        RegionKind::ZeroTail => walk.opaque(end, "zero tail", "preallocated or never written"),
        RegionKind::AfterFooter => walk.opaque(end, "after the footer", "nothing belongs here"),
        _ => Ok(()),
    }
}

fn index_events(walk: &mut Walk<'_>, reader: &IndexReader) -> Shown {
    let shape = Shape::new("index_event", reader.wire());
    let has_gap = reader.holes().next().is_some();
    let end = reader.events_end();
    let start_of = |seq| reader.event_offset(seq).unwrap_or(end);
    walk.events(reader.event_count(), "the file", start_of, |walk, seq| {
        let is_gap = has_gap && reader.get(seq)?.is_some_and(|event| event.is_zero());
        let about = if is_gap { "all zeros: a gap" } else { "" };
        walk.record(shape, Some(seq), end, about)
    })
}

/// Shows bytes after the last event: a torn event, unless they begin with zeros or a footer
/// follows.
fn torn_index_event(walk: &mut Walk<'_>, reader: &IndexReader, region: &Region) -> Shown {
    let is_unfinalized = matches!(reader.completeness(), Completeness::Unfinalized { .. });
    let piece = walk.peek(region.size.min(IndexEvent::SIZE as u64))?;
    if is_unfinalized && piece.iter().any(|byte| *byte != 0) {
        let event = Shape::new("index_event", reader.wire());
        walk.record(event, Some(reader.event_count()), region.end(), "")?;
    }
    walk.opaque(region.end(), "trailing bytes", "not a whole event")
}

fn detail_events(walk: &mut Walk<'_>, reader: &DetailReader) -> Shown {
    let start_of = |seq| reader.event_offset(seq).unwrap_or(reader.events_end());
    walk.events(reader.event_count(), "the file", start_of, |walk, seq| {
        detail_event(walk, reader.wire(), seq, start_of(seq.saturating_add(1)))
    })
}

/// Shows an event that ends at `end`. Only headers and function payloads have fields.
fn detail_event(walk: &mut Walk<'_>, wire: Wire, seq: u64, end: u64) -> Shown {
    walk.record(Shape::new("detail_event_header", wire), Some(seq), end, "")?;
    let size = end.saturating_sub(walk.place());
    if size <= LARGEST_PAYLOAD && FunctionPayload::decode(walk.peek(size)?).is_some() {
        let payload = Shape::new("detail_function_payload", wire);
        walk.record(payload, Some(seq), end, "")?;
        return walk.stretch(end, "stack");
    }
    walk.opaque(end, "payload", "not the payload of a call or a return")
}

/// Shows bytes after the last event: a torn event, or bytes with an impossible length.
fn torn_detail_event(walk: &mut Walk<'_>, reader: &DetailReader, region: &Region) -> Shown {
    if let Some(problem) = reader.framing_problem() {
        return walk.wrong(region.end(), "no event", &problem.to_string());
    }
    if !matches!(reader.completeness(), Completeness::Unfinalized { .. }) {
        return walk.opaque(region.end(), "trailing bytes", "not a whole event");
    }
    let header = Shape::new("detail_event_header", reader.wire());
    walk.record(header, Some(reader.event_count()), region.end(), "torn")?;
    walk.opaque(region.end(), "payload", "torn")
}

/// Shows the index events of a `ring.atf`.
fn index_area(walk: &mut Walk<'_>, wire: Wire, end: u64) -> Shown {
    let (start, size) = (walk.place(), IndexEvent::SIZE as u64);
    let shape = Shape::new("index_event", wire);
    let count = end.saturating_sub(start) / size;
    let start_of = |seq: u64| start.saturating_add(seq * size);
    walk.events(count, "the index area", start_of, |walk, seq| {
        walk.record(shape, Some(seq), end, "")
    })?;
    walk.opaque(end, "trailing bytes", "not a whole event")
}

/// Shows the detail events of a `ring.atf`.
fn detail_area(walk: &mut Walk<'_>, wire: Wire, end: u64) -> Shown {
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
        detail_event(walk, wire, seq, start_of(seq + 1))
    })?;
    if place < end {
        walk.wrong(end, "no event", "its total_length does not fit in the area")
    } else {
        Ok(())
    }
}
