//! Finds the size and number of the whole events at the start of a buffer.

use crate::detail::DetailEventHeader;
use crate::index::IndexEvent;
use crate::wire::Wire;

pub(super) fn whole_events(bytes: &[u8]) -> (usize, u64) {
    let count = bytes.len() / IndexEvent::SIZE;
    (count.saturating_mul(IndexEvent::SIZE), count as u64)
}

pub(super) fn whole_details(bytes: &[u8]) -> (usize, u64) {
    let (mut end, mut count) = (0_usize, 0_u64);
    while let Some(header) = bytes.get(end..).and_then(|rest| rest.first_chunk()) {
        let header = DetailEventHeader::decode(Wire::V1, 0, header);
        let size = usize::try_from(header.total_length).unwrap_or(usize::MAX);
        match end.checked_add(size).filter(|end| *end <= bytes.len()) {
            Some(next) if size > 0 => end = next,
            _ => break,
        }
        count = count.saturating_add(1);
    }
    (end, count)
}
