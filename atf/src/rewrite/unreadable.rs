//! Finds unreadable bytes and the other bytes of the events they belong to.

use super::salvage::SalvagedDetails;
use crate::detail::{DetailEvent, DetailEventHeader, DetailReader};
use crate::error::Error;
use crate::index::{IndexEvent, IndexReader};
use crate::source::Unreadable;

const EVENT_SIZE: u64 = IndexEvent::SIZE as u64;

/// Returns the unreadable ranges of an index file, extended to whole events.
pub(super) fn of_index(index: &IndexReader) -> Unreadable {
    let (events, end) = (index.header().events_offset, index.events_end());
    // The distance from an offset back to the start of its event.
    let inside = |offset: u64| {
        if (events..end).contains(&offset) {
            offset.saturating_sub(events) % EVENT_SIZE
        } else {
            0
        }
    };
    let mut found = Unreadable::default();
    for range in index.input.unreadable().iter() {
        let after = match inside(range.end) {
            0 => 0,
            inside => EVENT_SIZE.saturating_sub(inside),
        };
        let start = range.start.saturating_sub(inside(range.start));
        found.add(start..range.end.saturating_add(after));
    }
    found
}

/// Returns the unreadable ranges of a detail file, extended to whole details. If a detail's length
/// cannot be read, its end is unknown, so this includes all bytes from there to `section_end`,
/// except those in salvaged details.
pub(super) fn of_detail(
    detail: &DetailReader,
    salvaged: &SalvagedDetails,
    section_end: u64,
) -> Unreadable {
    let unreadable = detail.input.unreadable();
    let mut found = Unreadable::default();
    if unreadable.is_empty() {
        return found;
    }
    let hopped = (0..detail.event_count()).filter_map(|seq| detail.place(seq));
    let salvaged_places = salvaged.iter().map(DetailEvent::place);
    let events = hopped.chain(salvaged_places);
    let events = events.filter(|place| unreadable.overlaps(place));
    let mut ranges: Vec<_> = unreadable.iter().cloned().chain(events).collect();
    let problem = detail.framing_problem().and_then(Error::offset);
    let header = problem.map(|start| start..start.saturating_add(DetailEventHeader::SIZE as u64));
    if header.is_some_and(|header| unreadable.overlaps(&header)) {
        ranges.extend(salvaged.gaps(detail.events_end()..section_end));
    }
    ranges.sort_unstable_by_key(|range| range.start);
    ranges.into_iter().for_each(|range| found.add(range));
    found
}
