//! The footer of `detail.atf`.

use crate::error::ErrorKind;
use crate::footer::{FOOTER_SIZE, Footer, Wrong};
use crate::rules::of_file::{DETAIL, FileRules};
use crate::wire::{Record, Wire, offset};

pub use crate::wire::decoded::DetailFooter;

impl Default for DetailFooter {
    fn default() -> Self {
        Self::blank()
    }
}

impl DetailFooter {
    /// Encodes the footer, with reserved bytes set to 0.
    #[must_use]
    pub fn encode(&self, wire: Wire) -> [u8; Self::SIZE] {
        self.bytes(wire)
    }

    /// Compares the count with the number of events in the section, which is known only after a walk.
    pub(crate) fn wrong_count(&self, wire: Wire, events: u64) -> Option<Wrong> {
        let kind = ErrorKind::Disagrees {
            found: self.event_count,
            expected: events,
            by: "the events section",
        };
        (self.event_count != events).then_some(Wrong {
            kind,
            field: "footer.event_count",
            offset: offset!(wire, DetailFooter.event_count),
            rule: DETAIL.footer_count,
        })
    }
}

impl Footer for DetailFooter {
    const MAGIC: [u8; 4] = Self::MAGIC;
    const RECORD: Record = Record::DetailFooter;
    const RULES: &'static FileRules = &DETAIL;
    const NUMBERS: usize = 1;

    fn decode(wire: Wire, bytes: &[u8; FOOTER_SIZE]) -> Self {
        Self::from_bytes(wire, bytes)
    }

    /// Compares only the length: the count is compared later, once the events have been counted.
    fn problems(&self, wire: Wire, section_bytes: u64) -> Vec<Wrong> {
        if self.bytes_length == section_bytes {
            return Vec::new();
        }
        vec![Wrong {
            kind: ErrorKind::LengthDoesNotFit {
                found: self.bytes_length,
                section_bytes,
            },
            field: "footer.bytes_length",
            offset: offset!(wire, DetailFooter.bytes_length),
            rule: DETAIL.footer_length,
        }]
    }
}
