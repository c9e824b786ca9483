//! Code shared by the headers of both files.

use crate::error::{Error, ErrorKind, Result};
use crate::source::Input;
use crate::wire::{ENDIAN, HEADER_SIZE, Wire, offset};

/// Reads the header's bytes. Fails if the file is too short.
pub(crate) fn read(input: &Input) -> Result<[u8; HEADER_SIZE]> {
    if input.size() < HEADER_SIZE as u64 {
        let kind = ErrorKind::TooShort {
            found: input.size(),
            needed: HEADER_SIZE as u64,
        };
        return Err(input
            .error(kind)
            .with_field("header")
            .with_offset(input.size()));
    }
    input.record(0)
}

/// Reads the header of a newly opened file. An empty file is not damaged: its writer stopped before
/// it flushed its buffer.
pub(crate) fn read_first(input: &Input) -> Result<[u8; HEADER_SIZE]> {
    match input.size() {
        0 => Err(input
            .error(ErrorKind::NothingWritten)
            .with_field("header")
            .with_offset(0)),
        _ => read(input),
    }
}

/// Creates an error about a field of the header.
pub(crate) fn error(kind: ErrorKind, field: &'static str, offset: usize) -> Error {
    Error::new(kind)
        .with_field(field)
        .with_offset(offset as u64)
}

/// Checks magic, byte order and version, which have the same offsets in every header.
pub(crate) fn wire(bytes: &[u8], magic: [u8; 4]) -> Result<Wire> {
    let &[a, b, c, d, endian, version, ..] = bytes else {
        return Err(Error::internal("a header has these fields"));
    };
    let found = [a, b, c, d];
    if found != magic {
        let kind = ErrorKind::BadMagic {
            found,
            expected: magic,
        };
        return Err(error(kind, "header.magic", offset!(DetailHeader.magic)));
    }
    if endian != ENDIAN {
        let kind = ErrorKind::BadEndian {
            found: endian,
            expected: ENDIAN,
        };
        return Err(error(kind, "header.endian", offset!(DetailHeader.endian)));
    }
    let kind = ErrorKind::UnknownVersion { found: version };
    Wire::from_version(version)
        .ok_or_else(|| error(kind, "header.version", offset!(DetailHeader.version)))
}

/// Checks that the events begin after the header and within the file.
pub(crate) fn check_events_offset(found: u64, size: u64, field_offset: usize) -> Result<()> {
    let min = HEADER_SIZE as u64;
    if (min..=size).contains(&found) {
        return Ok(());
    }
    let kind = ErrorKind::BadEventsOffset {
        found,
        min,
        max: size,
    };
    Err(error(kind, "header.events_offset", field_offset))
}

/// Checks that a verified footer confirms the events offset if the events do not begin at the end
/// of the header.
pub(crate) fn check_proven(found: u64, verified: bool, field_offset: usize) -> Result<()> {
    if verified || found == HEADER_SIZE as u64 {
        return Ok(());
    }
    let kind = ErrorKind::UnprovenEventsOffset { found };
    Err(error(kind, "header.events_offset", field_offset))
}
