//! A walk over `index.atf`.

use std::path::Path;

use atf::check::index_repeats;
use atf::index::{IndexEvent, IndexReader};
use atf::{Completeness, Region};

use super::detail::wire_of;
use super::ending;
use super::walk::Walk;
use crate::format::Shape;
use crate::output::Failure;

pub(super) fn explain(walk: &mut Walk<'_>, path: &Path) -> Result<(), Failure> {
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
    let (regions, completeness) = (reader.regions(), reader.completeness());
    let show = |walk: &mut Walk<'_>, region: Option<&Region>| match region {
        None => events(walk, &reader),
        Some(region) => torn_event(walk, &reader, region),
    };
    ending::regions(walk, &regions, footer, completeness, show)
}

fn events(walk: &mut Walk<'_>, reader: &IndexReader) -> Result<(), Failure> {
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

/// Shows bytes after the last event: a torn event, unless they begin with zeros or a footer follows.
fn torn_event(walk: &mut Walk<'_>, reader: &IndexReader, region: &Region) -> Result<(), Failure> {
    let is_unfinalized = matches!(reader.completeness(), Completeness::Unfinalized { .. });
    let piece = walk.peek(region.size.min(IndexEvent::SIZE as u64))?;
    if is_unfinalized && piece.iter().any(|byte| *byte != 0) {
        let event = Shape::new("index_event", reader.wire());
        walk.record(event, Some(reader.event_count()), region.end(), "")?;
    }
    walk.opaque(region.end(), "trailing bytes", "not a whole event")
}
