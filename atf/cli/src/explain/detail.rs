//! A walk over `detail.atf`.

use std::path::Path;

use atf::check::detail_repeats;
use atf::detail::{DetailReader, FunctionPayload};
use atf::wire::Record;
use atf::{Completeness, Region, Wire};

use super::ending;
use super::walk::Walk;
use crate::format::Shape;
use crate::output::Failure;

/// The size in bytes of the longest payload that has fields.
const LARGEST: u64 = FunctionPayload::SIZE as u64 + u16::MAX as u64;

pub(super) fn explain(walk: &mut Walk<'_>, path: &Path) -> Result<(), Failure> {
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
    let (regions, completeness) = (reader.regions(), reader.completeness());
    let show = |walk: &mut Walk<'_>, region: Option<&Region>| match region {
        None => events(walk, &reader),
        Some(region) => torn_event(walk, &reader, region),
    };
    ending::regions(walk, &regions, footer, completeness, show)
}

/// Returns the wire version in a header, or 1 if it is unknown.
pub(super) fn wire_of(walk: &mut Walk<'_>) -> Result<Wire, Failure> {
    let header = walk.peek(64)?;
    // The field has the same offset in every header.
    let version = Record::DetailHeader.field(Wire::V1, "version");
    let version = version.and_then(|field| header.get(field.offset).copied());
    Ok(version.and_then(Wire::from_version).unwrap_or(Wire::V1))
}

fn events(walk: &mut Walk<'_>, reader: &DetailReader) -> Result<(), Failure> {
    let start_of = |seq| reader.event_offset(seq).unwrap_or(reader.events_end());
    walk.events(reader.event_count(), "the file", start_of, |walk, seq| {
        event(walk, reader.wire(), seq, start_of(seq.saturating_add(1)))
    })
}

/// Shows an event that ends at `end`. Only headers and function payloads have fields.
pub(super) fn event(walk: &mut Walk<'_>, wire: Wire, seq: u64, end: u64) -> Result<(), Failure> {
    walk.record(Shape::new("detail_event_header", wire), Some(seq), end, "")?;
    let size = end.saturating_sub(walk.place());
    if size <= LARGEST && FunctionPayload::decode(walk.peek(size)?).is_some() {
        let payload = Shape::new("detail_function_payload", wire);
        walk.record(payload, Some(seq), end, "")?;
        return walk.stretch(end, "stack");
    }
    walk.opaque(end, "payload", "not the payload of a call or a return")
}

/// Shows bytes after the last event: a torn event, or bytes with an impossible length.
fn torn_event(walk: &mut Walk<'_>, reader: &DetailReader, region: &Region) -> Result<(), Failure> {
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
