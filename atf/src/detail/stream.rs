//! Splits an events section into events as its bytes arrive.

use super::{DetailEvent, DetailEventHeader, DetailHeader, DetailReader, FunctionPayload};

/// The events of a section whose bytes arrive in order, in pieces of any size.
///
/// Buffers at most one header and one call or return payload; other payloads are skipped.
#[derive(Debug, Default)]
pub(crate) struct EventStream {
    /// The position of the next event.
    seq: u64,
    /// The offset of the next event.
    offset: u64,
    /// The first bytes of an event that continues in the next piece.
    begun: Vec<u8>,
    /// The number of bytes that this event needs.
    needed: usize,
    /// The remaining bytes of a payload that is not needed.
    skip: u64,
    /// Whether an event had an impossible length, so that no later event can be found.
    is_lost: bool,
}

impl EventStream {
    pub(crate) fn new(header: &DetailHeader) -> Self {
        Self {
            offset: header.events_offset,
            ..Self::default()
        }
    }

    /// Adds the next bytes. Passes each event that they complete to `take`, with its payload if it
    /// may be a function payload.
    pub(crate) fn add(
        &mut self,
        header: &DetailHeader,
        mut bytes: &[u8],
        take: &mut impl FnMut(&DetailEvent, Option<&[u8]>),
    ) {
        while !self.is_lost {
            let skipped = usize::try_from(self.skip).map_or(bytes.len(), |n| n.min(bytes.len()));
            self.skip = self.skip.saturating_sub(skipped as u64);
            bytes = bytes.get(skipped..).unwrap_or_default();
            if bytes.is_empty() {
                break;
            }
            if self.begun.is_empty() {
                match self.event(header, bytes, take) {
                    Ok(size) => bytes = bytes.get(size..).unwrap_or_default(),
                    Err(needed) => {
                        self.needed = needed;
                        self.begun.extend_from_slice(bytes);
                        break;
                    }
                }
                continue;
            }
            let mut begun = std::mem::take(&mut self.begun);
            let missing = self.needed.saturating_sub(begun.len()).min(bytes.len());
            let (more, rest) = bytes.split_at(missing);
            begun.extend_from_slice(more);
            bytes = rest;
            if let Err(needed) = self.event(header, &begun, take) {
                self.needed = needed;
                self.begun = begun;
            }
        }
    }

    /// Passes on the event that begins with these bytes, and returns how many of them belong to it.
    /// If there are too few bytes, returns how many are needed.
    fn event(
        &mut self,
        header: &DetailHeader,
        bytes: &[u8],
        take: &mut impl FnMut(&DetailEvent, Option<&[u8]>),
    ) -> Result<usize, usize> {
        const HEADER: usize = DetailEventHeader::SIZE;
        let (own, rest) = bytes.split_first_chunk::<HEADER>().ok_or(HEADER)?;
        let event = DetailEvent {
            seq: self.seq,
            offset: self.offset,
            header: DetailEventHeader::decode(header.wire, header.thread_id, own),
        };
        let total = event.header.total_length;
        self.is_lost = u64::from(total) < HEADER as u64;
        let payload = match FunctionPayload::possible(&event) {
            Some(size) => Some(rest.get(..size).ok_or(HEADER.saturating_add(size))?),
            None => None,
        };
        let used = HEADER.saturating_add(payload.map_or(0, <[u8]>::len));
        if !self.is_lost {
            take(&event, payload);
            self.seq = self.seq.saturating_add(1);
            self.offset = self.offset.saturating_add(total.into());
            self.skip = u64::from(total).saturating_sub(used as u64);
        }
        Ok(used)
    }

    /// Returns whether these events are exactly the events of `reader`.
    pub(crate) fn is_all_of(&self, reader: &DetailReader) -> bool {
        let is_between = self.begun.is_empty() && self.skip == 0 && !self.is_lost;
        is_between && self.seq == reader.event_count() && self.offset == reader.events_end()
    }
}
