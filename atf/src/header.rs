//! Code shared by the headers of both files.

use crate::error::{Error, ErrorKind, Result};
use crate::rules::Rule;
use crate::rules::of_file::FileRules;
use crate::source::Input;
use crate::wire::{ENDIAN, HEADER_SIZE, Wire, offset};

/// Reads the header's bytes. Fails if the file is too short.
pub(crate) fn read(input: &Input, rules: &FileRules) -> Result<[u8; HEADER_SIZE]> {
    if input.size() < HEADER_SIZE as u64 {
        let kind = ErrorKind::TooShort {
            found: input.size(),
            needed: HEADER_SIZE as u64,
        };
        let error = input.error(kind).with_field("header");
        return Err(error.with_offset(input.size()).with_rule(rules.header));
    }
    input.record(0)
}

/// Reads the header of a newly opened file. An empty file is not damaged: its writer stopped before
/// it flushed its buffer.
pub(crate) fn read_first(input: &Input, rules: &FileRules) -> Result<[u8; HEADER_SIZE]> {
    match input.size() {
        0 => {
            let error = input.error(ErrorKind::NothingWritten).with_field("header");
            Err(error.with_offset(0).with_rule(rules.finalized))
        }
        _ => read(input, rules),
    }
}

/// Creates an error for a header field that breaks a rule.
pub(crate) fn error(
    kind: ErrorKind,
    field: &'static str,
    offset: usize,
    rule: &'static Rule,
) -> Error {
    let error = Error::new(kind).with_field(field).with_rule(rule);
    error.with_offset(offset as u64)
}

/// Checks magic, byte order and version, which have the same offsets in every header. `rules` are
/// their rules.
pub(crate) fn wire(bytes: &[u8], magic: [u8; 4], rules: [&'static Rule; 3]) -> Result<Wire> {
    let [of_magic, of_endian, of_version] = rules;
    let &[a, b, c, d, endian, version, ..] = bytes else {
        return Err(Error::internal("a header has these fields"));
    };
    let found = [a, b, c, d];
    if found != magic {
        let kind = ErrorKind::BadMagic {
            found,
            expected: magic,
        };
        let offset = offset!(DetailHeader.magic);
        return Err(error(kind, "header.magic", offset, of_magic));
    }
    if endian != ENDIAN {
        let kind = ErrorKind::BadEndian {
            found: endian,
            expected: ENDIAN,
        };
        let offset = offset!(DetailHeader.endian);
        return Err(error(kind, "header.endian", offset, of_endian));
    }
    let kind = ErrorKind::UnknownVersion { found: version };
    let offset = offset!(DetailHeader.version);
    let unknown = || error(kind, "header.version", offset, of_version);
    Wire::from_version(version).ok_or_else(unknown)
}

/// Checks that the events begin after the header and within the file.
pub(crate) fn check_events_offset(
    found: u64,
    size: u64,
    field_offset: usize,
    rules: &FileRules,
) -> Result<()> {
    let min = HEADER_SIZE as u64;
    if (min..=size).contains(&found) {
        return Ok(());
    }
    let kind = ErrorKind::BadEventsOffset {
        found,
        min,
        max: size,
    };
    let rule = rules.events_offset;
    Err(error(kind, "header.events_offset", field_offset, rule))
}
