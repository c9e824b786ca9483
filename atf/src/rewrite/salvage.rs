//! Finds details past the point where walking from one detail to the next stopped or went wrong.
//!
//! A detail may begin at any byte there. It is accepted only if its `index_seq` refers to an index
//! event with the same timestamp, and that event links to a position after that of the last
//! accepted detail. Arbitrary bytes are very unlikely to match a 64-bit timestamp.

use std::ops::Range;

use crate::completeness::Completeness;
use crate::detail::{DetailEvent, DetailEventHeader, DetailReader};
use crate::error::{Result, push};
use crate::index::{IndexCursor, IndexReader};
use crate::source::gaps;
use crate::window::Window;

const HEADER_SIZE: u64 = DetailEventHeader::SIZE as u64;

/// The details found, in ascending order of both offset and position. A detail's position is the
/// one that its index event links to.
///
/// Each takes 56 bytes. The search time is linear in the file's size.
#[derive(Debug, Default)]
pub(super) struct SalvagedDetails(Vec<DetailEvent>);

impl SalvagedDetails {
    /// Searches the bytes after the last detail that the walk reached and that an index event
    /// confirms. If the walk did not fail, the search starts at the end of the section and reads
    /// nothing.
    pub(super) fn find(index: &IndexReader, detail: &DetailReader) -> Result<Self> {
        let end = match detail.completeness() {
            Completeness::DamagedFooter { offset, .. } => *offset,
            _ => detail.footer_offset().unwrap_or(detail.file_size()),
        };
        let mut events = index.cursor();
        let (mut offset, mut next) = last_confirmed(index, detail, &mut events)?;
        let unreadable = detail.input.unreadable();
        let mut window = Window::new(&detail.input);
        let mut found = Vec::new();
        while end.saturating_sub(offset) >= HEADER_SIZE {
            let header_end = offset.saturating_add(HEADER_SIZE);
            if unreadable.overlaps(&(offset..header_end)) {
                offset = offset.saturating_add(1);
                continue;
            }
            let bytes = window.record(offset)?;
            let header = DetailEventHeader::decode(detail.wire(), detail.header().thread_id, bytes);
            let size = u64::from(header.total_length);
            let fits = (HEADER_SIZE..=end.saturating_sub(offset)).contains(&size);
            let seq = if fits {
                confirmed(index, &mut events, &header)?.filter(|seq| *seq >= next)
            } else {
                None
            };
            let Some(seq) = seq else {
                // A header may begin in a hole if it ends after it.
                let hole = if size == 0 { window.hole(offset)? } else { 0 };
                let skipped = hole.saturating_sub(HEADER_SIZE.saturating_sub(1));
                offset = offset.saturating_add(skipped.max(1));
                continue;
            };
            let event = DetailEvent {
                seq,
                offset,
                header,
            };
            push(&mut found, event).map_err(|error| error.with_path(detail.input.path()))?;
            offset = offset.saturating_add(size);
            next = seq.saturating_add(1);
        }
        // The walk already found these details.
        found.retain(|event| detail.event_offset(event.seq) != Some(event.offset));
        Ok(Self(found))
    }

    /// Returns the detail at position `seq`, with its index among the details found.
    pub(super) fn get(&self, seq: u64) -> Option<(u64, DetailEvent)> {
        let place = self.0.binary_search_by_key(&seq, |event| event.seq).ok()?;
        Some((place as u64, *self.0.get(place)?))
    }

    pub(super) fn count(&self) -> u64 {
        self.0.len() as u64
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &DetailEvent> {
        self.0.iter()
    }

    /// Returns the parts of a range of bytes that no found detail covers.
    pub(super) fn gaps(&self, range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let start = range.start;
        let first = self.0.partition_point(|found| found.place().end <= start);
        let found = self
            .0
            .get(first..)
            .unwrap_or_default()
            .iter()
            .map(DetailEvent::place);
        gaps(found, range)
    }
}

/// Returns the end of the last detail that an index event confirms, and the next position.
fn last_confirmed(
    index: &IndexReader,
    detail: &DetailReader,
    events: &mut IndexCursor<'_>,
) -> Result<(u64, u64)> {
    for seq in (0..detail.event_count()).rev() {
        let Some(event) = detail.get(seq)? else {
            continue;
        };
        if confirmed(index, events, &event.header)? == Some(seq) {
            return Ok((event.place().end, seq.saturating_add(1)));
        }
    }
    Ok((detail.header().events_offset, 0))
}

/// Returns the position that the detail's index event links to, if that event has the same
/// timestamp.
fn confirmed(
    index: &IndexReader,
    events: &mut IndexCursor<'_>,
    header: &DetailEventHeader,
) -> Result<Option<u64>> {
    let event = events.get(header.index_seq)?;
    let event = event.filter(|_| index.is_readable(header.index_seq));
    let event = event.filter(|event| event.timestamp_ns == header.timestamp);
    Ok(event.and_then(|event| event.detail_seq))
}
