//! The footer of `index.atf`.

use super::IndexEvent;
use super::event::EVENT_SIZE;
use crate::error::{ErrorKind, Result};
use crate::footer::{FOOTER_SIZE, Footer, Wrong};
use crate::rules::of_file::{FileRules, INDEX};
use crate::source::Input;
use crate::wire::{Record, Wire, offset};

pub use crate::wire::decoded::IndexFooter;

impl Default for IndexFooter {
    fn default() -> Self {
        Self::blank()
    }
}

impl IndexFooter {
    /// Encodes the footer, with reserved bytes set to 0.
    #[must_use]
    pub fn encode(&self, wire: Wire) -> [u8; Self::SIZE] {
        self.bytes(wire)
    }
}

impl Footer for IndexFooter {
    const MAGIC: [u8; 4] = Self::MAGIC;
    const RECORD: Record = Record::IndexFooter;
    const RULES: &'static FileRules = &INDEX;
    const NUMBERS: usize = 2;

    fn decode(wire: Wire, bytes: &[u8; FOOTER_SIZE]) -> Self {
        Self::from_bytes(wire, bytes)
    }

    fn problems(&self, wire: Wire, section_bytes: u64) -> Vec<Wrong> {
        let mut problems = Vec::new();
        let counted_bytes = self.event_count.checked_mul(EVENT_SIZE);
        if counted_bytes != Some(section_bytes) {
            problems.push(Wrong {
                kind: ErrorKind::CountDoesNotFit {
                    found: self.event_count,
                    section_bytes,
                },
                field: "footer.event_count",
                offset: offset!(wire, IndexFooter.event_count),
                rule: INDEX.footer_count,
            });
        }
        if self.bytes_written != section_bytes {
            problems.push(Wrong {
                kind: ErrorKind::LengthDoesNotFit {
                    found: self.bytes_written,
                    section_bytes,
                },
                field: "footer.bytes_written",
                offset: offset!(wire, IndexFooter.bytes_written),
                rule: INDEX.footer_length,
            });
        }
        problems
    }

    /// A nonzero start time after whole events is correct if it equals the first event's time. It
    /// counts double if the bytes, read as an event, would have an unknown kind.
    fn start_time_weight(
        input: &Input,
        wire: Wire,
        events_offset: u64,
        section_bytes: u64,
        bytes: &[u8; FOOTER_SIZE],
    ) -> Result<usize> {
        let start = Self::from_bytes(wire, bytes).time_start_ns;
        if start == 0 || !section_bytes.is_multiple_of(EVENT_SIZE) {
            return Ok(0);
        }
        let first = IndexEvent::decode(wire, 0, &input.record(events_offset)?);
        match bytes.first_chunk() {
            Some(event) if start == first.timestamp_ns => {
                let kind = IndexEvent::decode(wire, 0, event).event_kind;
                Ok(if kind.name().is_some() { 1 } else { 2 })
            }
            _ => Ok(0),
        }
    }
}
