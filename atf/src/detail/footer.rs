//! The footer of `detail.atf`.

use crate::error::ErrorKind;
use crate::footer::{FOOTER_SIZE, Footer};
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
}

impl Footer for DetailFooter {
    const MAGIC: [u8; 4] = Self::MAGIC;
    const RECORD: Record = Record::DetailFooter;
    const NUMBERS: usize = 1;

    fn decode(wire: Wire, bytes: &[u8; FOOTER_SIZE]) -> Self {
        Self::from_bytes(wire, bytes)
    }

    /// Compares only the length: the count is compared later, once the events have been counted.
    fn problems(&self, wire: Wire, section_bytes: u64) -> Vec<(ErrorKind, &'static str, usize)> {
        if self.bytes_length == section_bytes {
            return Vec::new();
        }
        let kind = ErrorKind::LengthDoesNotFit {
            found: self.bytes_length,
            section_bytes,
        };
        let offset = offset!(wire, DetailFooter.bytes_length);
        vec![(kind, "footer.bytes_length", offset)]
    }
}
