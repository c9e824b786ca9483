//! Finds the bytes in a file from which a value in a document was read.

use std::ops::Range;

use serde_json::Value;

use super::compare::Step;
use crate::corpus::{Case, Subject};
use crate::results::Hexdump;
use atf::Wire;
use atf::wire::Record;

/// Returns the field from which a value in a case's document was read, and some bytes around it.
///
/// Record offsets come from the expected document, never from a reader's document.
#[must_use]
pub fn locate(case: &Case, steps: &[Step]) -> Option<Hexdump> {
    let (file, document, steps) = file(case, steps)?;
    let bytes = case.files.get(&file)?;
    let place = Document::new(bytes, document)?.place(steps)?;
    hexdump(&file, bytes, place)
}

/// Returns the bytes of a field at an offset in a case's file. `name` is the field in the checker's
/// finding.
#[must_use]
pub fn locate_field(case: &Case, file: &str, name: &str, offset: u64) -> Option<Hexdump> {
    let bytes = case.files.get(file)?;
    let (record, field) = name.split_once('.')?;
    let is_index = file.ends_with(atf::thread::INDEX_FILE);
    let record = match (record, is_index) {
        ("header", true) => Record::IndexHeader,
        ("header", false) => Record::DetailHeader,
        ("footer", true) => Record::IndexFooter,
        ("footer", false) => Record::DetailFooter,
        (_, true) => Record::IndexEvent,
        (_, false) => Record::DetailEventHeader,
    };
    let found = Wire::from_version(case.wire).and_then(|wire| record.field(wire, field));
    let size = found.map_or(1, |field| field.size);
    let start = usize::try_from(offset).ok()?;
    hexdump(file, bytes, start..start.checked_add(size)?)
}

/// Returns the first bytes of the case's file. For a session, this is its first file.
#[must_use]
pub fn locate_beginning(case: &Case) -> Option<Hexdump> {
    let given = case.files.get_key_value(&case.path);
    let (file, bytes) = given.or_else(|| case.files.first_key_value())?;
    Some(beginning(file, bytes))
}

/// Returns the first bytes of a file.
pub fn beginning(file: &str, bytes: &[u8]) -> Hexdump {
    const MOST: usize = 64;
    Hexdump {
        file: file.to_owned(),
        offset: 0,
        bytes: bytes.iter().take(MOST).copied().collect(),
        field_offset: 0,
        field_size: 0,
    }
}

/// Returns the file that contains a place, the file's document and the rest of the path.
fn file<'a>(case: &'a Case, steps: &'a [Step]) -> Option<(String, &'a Value, &'a [Step])> {
    if case.subject != Subject::Session {
        return Some((case.path.clone(), &case.expected, steps));
    }
    let [
        Step::Key(threads),
        Step::Element(seq),
        Step::Key(kind),
        rest @ ..,
    ] = steps
    else {
        return None;
    };
    let thread = case.expected.get(threads)?.get(seq)?;
    let name = match kind.as_str() {
        "index" => atf::thread::INDEX_FILE,
        "detail" => atf::thread::DETAIL_FILE,
        _ => return None,
    };
    let file = format!("thread_{}/{name}", thread.get("thread_id")?);
    let file = match case.path.as_str() {
        "" => file,
        folder => format!("{folder}/{file}"),
    };
    Some((file, thread.get(kind)?, rest))
}

/// A file and its expected document.
struct Document<'a> {
    bytes: &'a [u8],
    document: &'a Value,
    wire: Wire,
    is_index: bool,
    events_offset: usize,
}

impl<'a> Document<'a> {
    fn new(bytes: &'a [u8], document: &'a Value) -> Option<Self> {
        let header = document.get("header")?;
        Some(Self {
            bytes,
            document,
            wire: Wire::from_version(u8::try_from(header.get("version")?.as_u64()?).ok()?)?,
            is_index: document.get("kind")? == "index",
            events_offset: number(header.get("events_offset")?)?,
        })
    }

    fn place(&self, steps: &[Step]) -> Option<Range<usize>> {
        let header = self.either(Record::IndexHeader, Record::DetailHeader);
        match steps {
            [Step::Key(record), Step::Key(name), ..] => match record.as_str() {
                "header" => self.field(0, header, name),
                "footer" => self.footer_field(name),
                "derived" => self.derived(name),
                _ => None,
            },
            [Step::Key(_events), Step::Element(seq)] => self.event(*seq),
            [Step::Key(_events), Step::Element(seq), rest @ ..] => self.event_field(*seq, rest),
            _ => None,
        }
    }

    fn either(&self, index: Record, detail: Record) -> Record {
        if self.is_index { index } else { detail }
    }

    fn field(&self, start: usize, record: Record, name: &str) -> Option<Range<usize>> {
        let field = record.field(self.wire, name)?;
        let start = start.checked_add(field.offset)?;
        Some(start..start.checked_add(field.size)?)
    }

    /// Returns the range of a footer field, based on the expected footer.
    fn footer_field(&self, name: &str) -> Option<Range<usize>> {
        let record = self.either(Record::IndexFooter, Record::DetailFooter);
        let length = if self.is_index {
            "bytes_written"
        } else {
            "bytes_length"
        };
        let length = number(self.document.get("footer")?.get(length)?)?;
        self.field(self.events_offset.checked_add(length)?, record, name)
    }

    /// Returns the bytes that a derived value depends on.
    fn derived(&self, name: &str) -> Option<Range<usize>> {
        let field = match name {
            "checksum" => "checksum",
            _ => "event_count",
        };
        self.footer_field(field).or_else(|| self.end())
    }

    /// Returns the range after the last event.
    fn end(&self) -> Option<Range<usize>> {
        let count = self.document.get("events")?.as_array()?.len();
        let end = match count.checked_sub(1) {
            None => self.events_offset,
            Some(last) => self.event(last)?.end,
        };
        Some(end..self.bytes.len())
    }

    fn event(&self, seq: usize) -> Option<Range<usize>> {
        if self.is_index {
            let size = atf::index::IndexEvent::SIZE;
            let start = self.events_offset.checked_add(seq.checked_mul(size)?)?;
            return Some(start..start.checked_add(size)?);
        }
        let mut start = self.events_offset;
        for _ in 0..seq {
            start = self.next(start)?;
        }
        Some(start..self.next(start)?)
    }

    /// Returns the offset of the detail event that follows the event at `start`.
    fn next(&self, start: usize) -> Option<usize> {
        let bytes = self.bytes.get(start..)?.first_chunk()?;
        let length = usize::try_from(u32::from_le_bytes(*bytes)).ok()?;
        start.checked_add(length.max(atf::detail::DetailEventHeader::SIZE))
    }

    fn event_field(&self, seq: usize, steps: &[Step]) -> Option<Range<usize>> {
        let event = self.event(seq)?;
        let record = self.either(Record::IndexEvent, Record::DetailEventHeader);
        let payload = event
            .start
            .checked_add(atf::detail::DetailEventHeader::SIZE)?;
        match steps {
            [Step::Key(name)] if name == "payload" => Some(payload..event.end),
            [Step::Key(name)] if name == "function" => Some(payload..event.end),
            [Step::Key(name)] => self.field(event.start, record, name),
            [Step::Key(_function), Step::Key(name), rest @ ..] => {
                let stack = payload.checked_add(atf::detail::FunctionPayload::SIZE)?;
                if name == "stack" {
                    return Some(stack..event.end);
                }
                let field = self.field(payload, Record::DetailFunctionPayload, name)?;
                match rest {
                    [Step::Element(seq)] => {
                        let start = field.start.checked_add(seq.checked_mul(8)?)?;
                        Some(start..start.checked_add(8)?)
                    }
                    _ => Some(field),
                }
            }
            _ => None,
        }
    }
}

/// Parses a number, given as a JSON number or a string.
fn number(value: &Value) -> Option<usize> {
    match value {
        Value::String(text) => text.parse().ok(),
        other => usize::try_from(other.as_u64()?).ok(),
    }
}

/// Returns a field's bytes and the bytes around them, in complete lines of 16 bytes.
fn hexdump(file: &str, bytes: &[u8], place: Range<usize>) -> Option<Hexdump> {
    const LINE: usize = 16;
    const MOST: usize = 6 * LINE;
    let end = place.end.min(bytes.len());
    let size = end.checked_sub(place.start)?;
    let first = place.start.saturating_sub(LINE) / LINE * LINE;
    let last = end.saturating_add(LINE).div_ceil(LINE).saturating_mul(LINE);
    let last = last.min(first.saturating_add(MOST)).min(bytes.len());
    Some(Hexdump {
        file: file.to_owned(),
        offset: first as u64,
        bytes: bytes.get(first..last)?.to_vec(),
        field_offset: place.start as u64,
        field_size: size as u64,
    })
}
