//! Decodes bytes according to the format's layout: fields, their values and meanings.

mod field;

use std::sync::OnceLock;

use atf::Wire;
use atf_spec::layout::{Enum, Field, Layout, Record};

pub(crate) use field::{Decoded, Meaning, number_json, number_text};

/// The resolved layout of both wire versions.
fn layout() -> &'static Layout {
    static LAYOUT: OnceLock<Layout> = OnceLock::new();
    LAYOUT
        .get_or_init(|| serde_json::from_str(atf_spec::layout::JSON).expect("the committed layout"))
}

/// Returns the enumeration or set of flags with this name.
pub(crate) fn enumeration(name: &str) -> Option<&'static Enum> {
    layout().enumeration(name)
}

/// Returns the name of an enumeration value.
pub(crate) fn member(enumeration: &str, value: u64) -> Option<&'static str> {
    let members = &self::enumeration(enumeration)?.members;
    let member = members.iter().find(|member| member.value == value)?;
    Some(&member.name)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_record_used_here_is_in_the_layout() {
        for &wire in Wire::ALL {
            for (name, size) in [
                ("index_header", 64),
                ("index_event", 32),
                ("index_footer", 64),
                ("detail_header", 64),
                ("detail_event_header", 24),
                ("detail_function_payload", 100),
                ("detail_footer", 64),
                ("ring_header", 128),
            ] {
                assert_eq!(Shape::new(name, wire).size(), size, "{name}");
            }
        }
    }
}
