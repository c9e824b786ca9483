//! The header of a growing file: missing, a placeholder, or rewritten.

use crate::detail::DetailHeader;
use crate::error::{ErrorKind, Result};
use crate::header;
use crate::index::IndexHeader;
use crate::rules::of_file::{DETAIL, FileRules, INDEX};
use crate::source::Input;
use crate::wire::{self, HEADER_SIZE, Record, Wire, offset};

/// The fields that do not change when a writer rewrites the header. A detail header has no clock.
const LASTING: [&str; 6] = [
    "version",
    "arch",
    "os",
    "thread_id",
    "clock_type",
    "events_offset",
];

/// The header of a kind of file that can be followed.
pub(super) trait Header: Sized + Clone {
    const MAGIC: [u8; 4];

    const RECORD: Record;

    const RULES: &'static FileRules;

    /// The offset of `events_offset`, the last field that is never 0 in a placeholder.
    const EVENTS_OFFSET: usize;

    fn decode(bytes: &[u8; HEADER_SIZE]) -> Result<Self>;

    fn wire_and_events_offset(&self) -> (Wire, u64);
}

/// The header as it was last read.
#[derive(Debug)]
pub(super) struct Head<H> {
    read: Option<(H, [u8; HEADER_SIZE])>,
}

impl<H: Header> Head<H> {
    pub(super) const fn new() -> Self {
        Self { read: None }
    }

    pub(super) fn header(&self) -> Option<&H> {
        self.read.as_ref().map(|(header, _)| header)
    }

    /// Reads the header and returns whether it is unchanged. Returns `None` while the header or its
    /// events offset still reads as zeros.
    pub(super) fn read(&mut self, input: &Input) -> Result<Option<(H, bool)>> {
        if input.size() < HEADER_SIZE as u64 && self.read.is_none() {
            return Ok(None);
        }
        let bytes = header::read(input, H::RULES)?;
        if self.read.is_none() && is_unwritten::<H>(&bytes) {
            return Ok(None);
        }
        let header = H::decode(&bytes).map_err(|error| error.with_path(input.path()))?;
        let (wire, events_offset) = header.wire_and_events_offset();
        let mut is_same = false;
        if let Some((_, bytes_before)) = &self.read {
            for field in LASTING
                .iter()
                .filter_map(|name| H::RECORD.field(wire, name))
            {
                let [found, before] = [&bytes, bytes_before].map(|bytes| field.number(bytes));
                if found != before {
                    let error = input.error(ErrorKind::Changed { found, before });
                    let error = error.with_field(format!("header.{}", field.name));
                    return Err(error.with_offset(field.offset as u64));
                }
            }
            is_same = bytes == *bytes_before;
        }
        self.read = Some((header.clone(), bytes));
        let is_there = events_offset <= input.size();
        Ok(is_there.then_some((header, is_same)))
    }
}

/// Returns whether the space for the header is allocated but the header is not yet fully written.
fn is_unwritten<H: Header>(bytes: &[u8; HEADER_SIZE]) -> bool {
    let events_offset = bytes
        .get(H::EVENTS_OFFSET..)
        .and_then(|rest| rest.first_chunk());
    let mut magic = bytes.iter().zip(H::MAGIC);
    magic.all(|(found, magic)| *found == magic || *found == 0) && events_offset == Some(&[0; 8])
}

impl Header for IndexHeader {
    const MAGIC: [u8; 4] = wire::INDEX_MAGIC;
    const RECORD: Record = Record::IndexHeader;
    const RULES: &'static FileRules = &INDEX;
    const EVENTS_OFFSET: usize = offset!(IndexHeader.events_offset);

    fn decode(bytes: &[u8; HEADER_SIZE]) -> Result<Self> {
        Self::decode(bytes, u64::MAX)
    }

    fn wire_and_events_offset(&self) -> (Wire, u64) {
        (self.wire, self.events_offset)
    }
}

impl Header for DetailHeader {
    const MAGIC: [u8; 4] = wire::DETAIL_MAGIC;
    const RECORD: Record = Record::DetailHeader;
    const RULES: &'static FileRules = &DETAIL;
    const EVENTS_OFFSET: usize = offset!(DetailHeader.events_offset);

    fn decode(bytes: &[u8; HEADER_SIZE]) -> Result<Self> {
        Self::decode(bytes, u64::MAX)
    }

    fn wire_and_events_offset(&self) -> (Wire, u64) {
        (self.wire, self.events_offset)
    }
}
