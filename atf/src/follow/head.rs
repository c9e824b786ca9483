//! The header of a growing file: missing, a placeholder, or rewritten.

use crate::detail::DetailHeader;
use crate::error::{ErrorKind, Result};
use crate::header;
use crate::index::IndexHeader;
use crate::source::Input;
use crate::wire::{self, HEADER_SIZE, offset};

/// A field's name, offset and value.
type Field = (&'static str, usize, u64);

/// The header of a kind of file that can be followed.
pub(super) trait Header: Sized + Clone {
    const MAGIC: [u8; 4];

    /// The offset of `events_offset`, the last field that is never 0 in a placeholder.
    const EVENTS_OFFSET: usize;

    fn decode(bytes: &[u8; HEADER_SIZE]) -> Result<Self>;

    fn events_offset(&self) -> u64;

    /// Returns the fields that do not change when a writer rewrites the header.
    fn lasting(&self) -> Vec<Field>;
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
        let bytes = header::read(input)?;
        if self.read.is_none() && is_unwritten::<H>(&bytes) {
            return Ok(None);
        }
        let header = H::decode(&bytes).map_err(|error| error.with_path(input.path()))?;
        let mut is_same = false;
        if let Some((before, bytes_before)) = &self.read {
            for ((field, offset, found), (_, _, before)) in
                header.lasting().into_iter().zip(before.lasting())
            {
                if found != before {
                    let error = header::error(ErrorKind::Changed { found, before }, field, offset);
                    return Err(error.with_path(input.path()));
                }
            }
            is_same = bytes == *bytes_before;
        }
        self.read = Some((header.clone(), bytes));
        let is_there = header.events_offset() <= input.size();
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
    const EVENTS_OFFSET: usize = offset!(IndexHeader.events_offset);

    fn decode(bytes: &[u8; HEADER_SIZE]) -> Result<Self> {
        Self::decode(bytes, u64::MAX)
    }

    fn events_offset(&self) -> u64 {
        self.events_offset
    }

    fn lasting(&self) -> Vec<Field> {
        let wire = self.wire;
        let (version, arch, os, thread_id, clock_type, events_offset) = (
            offset!(wire, IndexHeader.version),
            offset!(wire, IndexHeader.arch),
            offset!(wire, IndexHeader.os),
            offset!(wire, IndexHeader.thread_id),
            offset!(wire, IndexHeader.clock_type),
            offset!(wire, IndexHeader.events_offset),
        );
        vec![
            ("header.version", version, wire.version().into()),
            ("header.arch", arch, self.arch.0.into()),
            ("header.os", os, self.os.0.into()),
            ("header.thread_id", thread_id, self.thread_id.into()),
            ("header.clock_type", clock_type, self.clock_type.0.into()),
            ("header.events_offset", events_offset, self.events_offset),
        ]
    }
}

impl Header for DetailHeader {
    const MAGIC: [u8; 4] = wire::DETAIL_MAGIC;
    const EVENTS_OFFSET: usize = offset!(DetailHeader.events_offset);

    fn decode(bytes: &[u8; HEADER_SIZE]) -> Result<Self> {
        Self::decode(bytes, u64::MAX)
    }

    fn events_offset(&self) -> u64 {
        self.events_offset
    }

    fn lasting(&self) -> Vec<Field> {
        let wire = self.wire;
        let (version, arch, os, thread_id, events_offset) = (
            offset!(wire, DetailHeader.version),
            offset!(wire, DetailHeader.arch),
            offset!(wire, DetailHeader.os),
            offset!(wire, DetailHeader.thread_id),
            offset!(wire, DetailHeader.events_offset),
        );
        vec![
            ("header.version", version, wire.version().into()),
            ("header.arch", arch, self.arch.0.into()),
            ("header.os", os, self.os.0.into()),
            ("header.thread_id", thread_id, self.thread_id.into()),
            ("header.events_offset", events_offset, self.events_offset),
        ]
    }
}
