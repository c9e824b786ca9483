//! Compares a file with its expected bytes.

use std::fs::{self, File};
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::Path;

use super::expected::{Expected, Placed, Record};
use super::{END_SIZE, Wrong, settle};
use crate::results::{Difference, Hexdump};

/// How a file ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Finalized,
    /// The file was flushed but has no footer.
    Open,
    /// SIGKILL may have truncated the file at any point.
    Killed,
}

#[derive(Debug)]
pub(super) struct Found {
    /// The file's path relative to the session folder, separated by `/`.
    pub(super) file: String,
    pub(super) bytes: Vec<u8>,
}

impl Found {
    /// Reads a file, whose size was checked before. Returns `None` if the file does not exist.
    pub(super) fn read(out: &Path, file: &str) -> Result<Option<Self>, Wrong> {
        let path = out.join(file);
        let failed = |error: io::Error| Wrong::new(format!("{file}: {error}"));
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
            Ok(meta) if !meta.is_file() => {
                return Err(Wrong::new(format!("{file}: not a regular file")));
            }
            Ok(_) => {}
        }
        Ok(Some(Self {
            file: file.to_owned(),
            bytes: fs::read(&path).map_err(failed)?,
        }))
    }

    /// Reads a header's `events_offset`, a `u64` at the offset `at`.
    pub(super) fn events_offset(&self, at: usize) -> usize {
        let stated = self.bytes.get(at..).and_then(|rest| rest.first_chunk());
        let stated = stated.map_or(0, |bytes| u64::from_le_bytes(*bytes));
        match usize::try_from(stated) {
            Ok(offset) if (END_SIZE..=self.bytes.len()).contains(&offset) => offset,
            _ => END_SIZE,
        }
    }

    /// Compares the fields and any bytes after them. Returns the first difference as an error.
    pub(super) fn compare(&self, expected: &Expected, ending: Ending) -> Result<(), Wrong> {
        // If the writer was killed, the missing events may be in a kill journal.
        let is_here = |field: &&Placed| {
            ending != Ending::Killed || field.offset + field.bytes.len() <= self.bytes.len()
        };
        // If the footer is missing, the header was not rewritten either.
        let footer = expected.fields.iter();
        let mut footer = footer.filter(|field| field.name.record == Record::Footer);
        if ending == Ending::Finalized
            && let Some(magic) = footer
                .next()
                .filter(|magic| self.bytes.len() <= magic.offset)
        {
            return Err(self.wrong(magic));
        }
        // Events first: the footer and the header describe them, so a wrong event is the cause.
        let mut fields: Vec<_> = expected.fields.iter().filter(is_here).collect();
        fields.sort_by_key(|field| match field.name.record {
            Record::Event(_) => 0,
            Record::Footer => 1,
            Record::Padding | Record::Header => 2,
        });
        for field in fields {
            let end = field.offset + field.bytes.len();
            let found = self.bytes.get(field.offset..end);
            if !found.is_some_and(|found| field.allows(found)) {
                let lost = self.lost(expected, field);
                return Err(lost.unwrap_or_else(|| self.wrong(field)));
            }
        }
        match ending {
            // The checker reports bytes after a footer, and a kill may leave a torn event.
            Ending::Finalized | Ending::Killed => Ok(()),
            Ending::Open => self.nothing_follows(expected),
        }
    }

    /// Makes a failure for a file that ends before the event of a field begins.
    fn lost(&self, expected: &Expected, field: &Placed) -> Option<Wrong> {
        let seq = |field: &Placed| match field.name.record {
            Record::Event(seq) => Some(seq),
            _ => None,
        };
        let count = seq(field)?;
        let mut fields = expected.fields.iter();
        let begin = fields.find(|it| seq(it) == Some(count))?.offset;
        let last = fields.rev().find_map(seq)?;
        (self.bytes.len() <= begin)
            .then(|| settle::too_few(&self.file, &(last + 1).to_string(), count))
    }

    fn wrong(&self, field: &Placed) -> Wrong {
        let bytes = &self.bytes;
        let rest = bytes.get(field.offset..).unwrap_or_default();
        let found = rest.get(..field.bytes.len()).unwrap_or(rest);
        let same = found.iter().zip(&field.bytes).take_while(|(a, b)| a == b);
        // Show a long field starting at the first difference.
        let from = if field.bytes.len() > 8 {
            same.count()
        } else {
            0
        };
        let part = |bytes: &[u8]| {
            let part = bytes.get(from..).unwrap_or_default();
            field.show(part.get(..LONGEST).unwrap_or(part))
        };
        let place = match from {
            0 => field.name.to_string(),
            _ => format!("{}[{from}]", field.name),
        };
        let got = if found.len() <= from {
            format!("end of file at {} bytes", bytes.len())
        } else {
            part(found)
        };
        let expected = part(&field.bytes);
        let offset = (field.offset + from) as u64;
        let size = (field.bytes.len() - from).min(LONGEST) as u64;
        self.differs(&place, [&got, &expected], offset, (offset, size))
    }

    /// Checks that nothing follows the events of an unfinalized file except zeros, which may be
    /// preallocated space.
    fn nothing_follows(&self, expected: &Expected) -> Result<(), Wrong> {
        let after = self.bytes.get(expected.size..).unwrap_or_default();
        let Some(first) = after.iter().position(|byte| *byte != 0) else {
            return Ok(());
        };
        let got = format!("{} unexpected bytes", after.len());
        let offset = (expected.size + first) as u64;
        let (place, shown) = ("after the last event", (expected.size as u64, 1));
        Err(self.differs(place, [&got, "nothing, or zeros"], offset, shown))
    }

    /// Makes a failure at an offset. `shown` are the offset and the size of the field to show.
    fn differs(
        &self,
        place: &str,
        [got, expected]: [&str; 2],
        offset: u64,
        shown: (u64, u64),
    ) -> Wrong {
        let place = format!("{}: {place}", self.file);
        let message = format!("{place}: {got}, expected {expected} (at {offset:#x})");
        let difference = Difference {
            hexdump: dump(&self.file, Cursor::new(&self.bytes), shown),
            ..Difference::in_data(place, expected, got)
        };
        Wrong::differs(message, difference)
    }
}

/// The number of bytes to show of a long field.
const LONGEST: usize = 16;

/// Returns the bytes at an offset in a file, if the file is readable.
pub(super) fn hexdump(out: &Path, file: &str, offset: u64) -> Option<Hexdump> {
    let path = out.join(file);
    let is_file = fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file());
    let opened = is_file.then(|| File::open(&path).ok())??;
    dump(file, opened, (offset, 1))
}

/// Returns the 16-byte lines that contain a field, plus one line before and one after.
fn dump(file: &str, mut bytes: impl Read + Seek, (offset, size): (u64, u64)) -> Option<Hexdump> {
    let line = |offset: u64| offset / 16 * 16;
    let start = line(offset).saturating_sub(16);
    let end = line(offset.saturating_add(size.max(1) - 1)).saturating_add(32);
    bytes.seek(SeekFrom::Start(start)).ok()?;
    let mut around = Vec::new();
    bytes.take(end - start).read_to_end(&mut around).ok()?;
    Some(Hexdump {
        file: file.to_owned(),
        offset: start,
        bytes: around,
        field_offset: offset,
        field_size: size,
    })
}
