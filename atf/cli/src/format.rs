//! Decodes bytes according to the format's layout: fields, their values and meanings.

use std::fmt::{self, Write as _};
use std::sync::OnceLock;

use atf::Wire;
use atf_spec::layout::{Field, Layout, Record, Value};

use crate::text::{Hex, Printable, Seconds, Since};

/// The fields shown in hexadecimal: addresses, two-part ids and checksums.
const IN_HEX: [&str; 6] = ["checksum", "function_id", "x_regs", "lr", "fp", "sp"];

/// The resolved layout of both wire versions.
fn layout() -> &'static Layout {
    static LAYOUT: OnceLock<Layout> = OnceLock::new();
    LAYOUT
        .get_or_init(|| serde_json::from_str(atf_spec::layout::JSON).expect("the committed layout"))
}

/// A record in one wire version.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    record: &'static Record,
    fields: &'static [Field],
}

impl Shape {
    /// Returns the record with this name, which must be in the layout.
    pub(crate) fn new(record: &str, wire: Wire) -> Self {
        let record = layout().record(record);
        let layout = record.and_then(|record| record.layout(wire.version()));
        let (record, layout) = record
            .zip(layout)
            .expect("the layout contains each record that `explain` names, in both wire versions");
        Self {
            record,
            fields: &layout.fields,
        }
    }

    /// Returns the record's name in the spec, such as `index_event`.
    pub(crate) fn name(&self) -> &'static str {
        &self.record.name
    }

    /// Returns the spec's description of the record.
    pub(crate) fn doc(&self) -> &'static str {
        &self.record.doc
    }

    /// Returns the record's size in bytes.
    pub(crate) fn size(&self) -> u64 {
        self.record.size.into()
    }

    /// Returns the number in one of the record's fields, or 0 if the bytes do not cover it.
    pub(crate) fn number(&self, bytes: &[u8], field: &str) -> u64 {
        let mut fields = self.decode(bytes);
        let found = fields.find(|decoded| decoded.field.name == field);
        found.and_then(|decoded| decoded.number()).unwrap_or(0)
    }

    /// Decodes as many of the record's fields as the bytes cover; the last field may be truncated.
    pub(crate) fn decode<'a>(&self, bytes: &'a [u8]) -> impl Iterator<Item = Decoded<'a>> {
        self.fields.iter().filter_map(move |field| {
            let start = usize::try_from(field.offset).ok()?;
            let end = usize::try_from(field.end()).ok()?.min(bytes.len());
            let bytes = bytes.get(start..end).filter(|bytes| !bytes.is_empty())?;
            Some(Decoded { field, bytes })
        })
    }
}

/// A field and its bytes in a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Decoded<'a> {
    /// The field, as the layout describes it.
    pub(crate) field: &'static Field,
    /// The field's bytes, which are incomplete if the file ends within the field.
    pub(crate) bytes: &'a [u8],
}

/// The meaning of a value, and whether it is valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// No meaning beyond the value itself.
    Plain,
    /// A number in this unit.
    Unit(&'static str),
    /// A value with this meaning.
    Known(String),
    /// A value that the format does not define: one that is not in an enumeration, or reserved
    /// bytes other than 0.
    Odd(String),
    /// An invalid value.
    Wrong(String),
}

impl<'a> Decoded<'a> {
    /// Returns whether the file ends before the field does.
    pub(crate) fn is_cut(&self) -> bool {
        self.bytes.len() as u64 != u64::from(self.field.ty.size())
    }

    /// Returns the field's number, if it is a complete scalar.
    pub(crate) fn number(&self) -> Option<u64> {
        let is_scalar = self.field.ty.count.is_none() && !self.is_cut();
        is_scalar.then(|| number(self.bytes))
    }

    /// Returns the elements of an array of numbers, or the field itself.
    pub(crate) fn elements(&self) -> impl Iterator<Item = (Option<usize>, &'a [u8])> {
        let size = self.field.ty.scalar.size() as usize;
        let is_list = self.field.ty.count.is_some() && size > 1;
        let chunk = if is_list {
            size
        } else {
            self.bytes.len().max(1)
        };
        let chunks = self.bytes.chunks(chunk).enumerate();
        chunks.map(move |(position, bytes)| (is_list.then_some(position), bytes))
    }

    /// Returns the field's value in JSON: 64-bit numbers as decimal strings, bytes in hexadecimal.
    pub(crate) fn json(&self) -> serde_json::Value {
        if self.is_text() {
            return self.bytes.escape_ascii().to_string().into();
        }
        match self.number() {
            Some(_) => number_json(self.bytes),
            None => Hex(self.bytes).to_string().into(),
        }
    }

    /// Returns the field's meaning. Times are relative to `start_ns`, if given.
    pub(crate) fn meaning(&self, start_ns: Option<u64>) -> Meaning {
        if self.is_cut() {
            let (there, size) = (self.bytes.len(), self.field.ty.size());
            return Meaning::Odd(format!("truncated: {there} of {size} bytes"));
        }
        if let Some(expected) = &self.field.value {
            return if self.has(expected) {
                Meaning::Plain
            } else {
                Meaning::Wrong(format!("expected {expected}"))
            };
        }
        if self.field.reserved {
            return if self.bytes.iter().all(|byte| *byte == 0) {
                Meaning::Plain
            } else {
                Meaning::Odd("reserved, but not 0".to_owned())
            };
        }
        let Some(number) = self.number() else {
            return Meaning::Plain;
        };
        if self.field.none == Some(number) {
            return Meaning::Known("none".to_owned());
        }
        if let Some(max) = self.field.max.filter(|max| number > *max) {
            return Meaning::Wrong(format!("at most {max}"));
        }
        if let Some(name) = &self.field.enumeration {
            return in_enumeration(name, number);
        }
        self.in_units(number, start_ns)
    }

    fn in_units(&self, number: u64, start_ns: Option<u64>) -> Meaning {
        let name = self.field.name.as_str();
        let field: &'static Field = self.field;
        match (field.units.as_deref(), start_ns) {
            (Some("ns"), Some(start_ns)) => {
                let time_ns = number;
                Meaning::Known(format!(
                    "{} s",
                    Since {
                        time_ns,
                        origin_ns: Some(start_ns)
                    }
                ))
            }
            (Some("ns"), None) => Meaning::Known(format!("{} s", Seconds(number))),
            (Some("bytes"), _) if name.ends_with("_offset") => {
                Meaning::Known(format!("{number:#x}"))
            }
            (Some(unit), _) => Meaning::Unit(unit),
            (None, _) if name == "function_id" => {
                let (module, symbol) = (number >> 32, number & u64::from(u32::MAX));
                Meaning::Known(format!("module {module:#x}, symbol {symbol:#x}"))
            }
            (None, _) if name == "checksum" && number == 0 => {
                Meaning::Known("not computed".to_owned())
            }
            (None, _) => Meaning::Plain,
        }
    }

    /// Returns whether the field's bytes are text.
    fn is_text(&self) -> bool {
        matches!(self.field.value, Some(Value::Text(_)))
    }

    fn has(&self, value: &Value) -> bool {
        match value {
            Value::Number(expected) => self.number() == Some(*expected),
            Value::Text(expected) => self.bytes == expected.as_bytes(),
        }
    }
}

/// Formats the field's value in human-readable form. Number arrays are formatted element by
/// element; see [`elements`](Decoded::elements).
impl fmt::Display for Decoded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_text() {
            return write!(f, "\"{}\"", Printable(self.bytes.escape_ascii()));
        }
        if self.is_cut() || self.field.ty.count.is_some() {
            let is_zero = self.bytes.iter().all(|byte| *byte == 0);
            return f.write_char(if is_zero { '0' } else { '…' });
        }
        f.write_str(&number_text(self.field, self.bytes))
    }
}

/// Formats a field's number as decimal or, for the fields in [`IN_HEX`], as hexadecimal.
pub(crate) fn number_text(field: &Field, bytes: &[u8]) -> String {
    let number = number(bytes);
    if IN_HEX.contains(&field.name.as_str()) {
        let digits = bytes.len() * 2;
        return format!("0x{number:0digits$x}");
    }
    number.to_string()
}

/// Returns a number in JSON: a 64-bit number as a decimal string.
pub(crate) fn number_json(bytes: &[u8]) -> serde_json::Value {
    match bytes.len() {
        8 => number(bytes).to_string().into(),
        _ => number(bytes).into(),
    }
}

/// Decodes a little-endian number.
fn number(bytes: &[u8]) -> u64 {
    let digits = bytes.iter().rev().take(8);
    digits.fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn in_enumeration(name: &str, number: u64) -> Meaning {
    let Some(enumeration) = layout().enumeration(name) else {
        return Meaning::Plain;
    };
    if !enumeration.flags {
        let member = enumeration.members.iter().find(|m| m.value == number);
        return match member {
            Some(member) => Meaning::Known(member.name.clone()),
            None => Meaning::Odd(format!("unknown {}", name.replace('_', " "))),
        };
    }
    let known = enumeration.members.iter();
    let set: Vec<_> = known.filter(|member| number & member.value != 0).collect();
    let unknown = set.iter().fold(number, |bits, member| bits & !member.value);
    let mut names: Vec<_> = set.iter().map(|member| member.name.clone()).collect();
    if unknown != 0 {
        names.push(format!("unknown bits {unknown:#x}"));
        return Meaning::Odd(names.join(", "));
    }
    if names.is_empty() {
        Meaning::Plain
    } else {
        Meaning::Known(names.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_shown_in_hexadecimal_are_in_the_layout() {
        let records = layout().records.iter().flat_map(|record| &record.layouts);
        let fields: Vec<_> = records.flat_map(|layout| &layout.fields).collect();
        for name in IN_HEX {
            assert!(fields.iter().any(|field| field.name == name), "{name}");
        }
    }

    /// Returns the meaning of a field in a version 1 index header in which one byte was changed.
    fn meaning(name: &str, offset: usize, byte: u8) -> Meaning {
        let mut bytes = [0; 64];
        bytes[..4].copy_from_slice(b"ATI2");
        bytes[offset] = byte;
        let shape = Shape::new("index_header", Wire::V1);
        let mut fields = shape.decode(&bytes);
        let field = fields.find(|field| field.field.name == name).unwrap();
        field.meaning(None)
    }

    #[test]
    fn values_are_shown_by_name_and_unknown_ones_are_odd() {
        assert_eq!(meaning("arch", 6, 2), Meaning::Known("arm64".into()));
        assert_eq!(meaning("arch", 6, 99), Meaning::Odd("unknown arch".into()));
        let flag = Meaning::Known("has_detail_file".into());
        assert_eq!(meaning("flags", 8, 1), flag);
        let bits = Meaning::Odd("has_detail_file, unknown bits 0x80".into());
        assert_eq!(meaning("flags", 8, 0x81), bits);
        let reserved = Meaning::Odd("reserved, but not 0".into());
        assert_eq!(meaning("_reserved1", 18, 1), reserved);
        let wrong = Meaning::Wrong("expected 32".into());
        assert_eq!(meaning("event_size", 24, 33), wrong);
        let wrong = Meaning::Wrong("expected \"ATI2\"".into());
        assert_eq!(meaning("magic", 0, b'X'), wrong);
    }
}
