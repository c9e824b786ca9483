//! Records in the bytes of a file, accessed by field name.

use atf_spec::layout::{Field, RecordLayout, Value as Constant};
use serde_json::{Map, Value};

/// A record in one wire version, and its bytes.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// The record's fields.
    pub layout: &'a RecordLayout,
    /// The record's bytes. Missing bytes count as 0.
    pub bytes: &'a [u8],
}

impl View<'_> {
    /// Returns a field by its name in the spec.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.layout.field_known_as(name)
    }

    /// Returns a field's number, or 0 if there is no such field.
    #[must_use]
    pub fn number(&self, name: &str) -> u64 {
        self.field(name).map_or(0, |field| self.number_of(field))
    }

    /// Returns a field's number, or `None` if the number means "none".
    #[must_use]
    pub fn link(&self, name: &str) -> Option<u64> {
        let none = self.field(name).and_then(|field| field.none);
        Some(self.number(name)).filter(|number| none != Some(*number))
    }

    /// Returns the fields as a document shows them.
    #[must_use]
    pub fn document(&self) -> Map<String, Value> {
        let shown = self.layout.fields.iter().filter(|field| is_shown(field));
        shown
            .map(|field| (field.name.clone(), self.value(field)))
            .collect()
    }

    /// Returns the first 8 bytes of a field as a little-endian number.
    #[must_use]
    pub fn number_of(&self, field: &Field) -> u64 {
        number(self.bytes, field.offset, field.ty.size())
    }

    fn value(&self, field: &Field) -> Value {
        let width = field.ty.scalar.size();
        let shown = |number: u64| match number {
            number if field.none == Some(number) => Value::Null,
            number if width == 8 || field.name.ends_with("_seq") => number.to_string().into(),
            number => number.into(),
        };
        match field.ty.count {
            None => shown(self.number_of(field)),
            Some(count) => (0..count)
                .map(|index| {
                    let offset = field.offset.saturating_add(width.saturating_mul(index));
                    shown(number(self.bytes, offset, width))
                })
                .collect(),
        }
    }
}

/// Returns whether documents show the field. Fields named `flags` are shown even if they are
/// reserved.
fn is_shown(field: &Field) -> bool {
    field.name != "magic" && !field.name.trim_start_matches('_').starts_with("reserved")
}

/// Decodes a little-endian number of up to 8 bytes. Missing bytes count as 0.
fn number(bytes: &[u8], offset: u32, width: u32) -> u64 {
    let bytes = bytes.iter().skip(offset as usize);
    let bytes = bytes.take(width.min(8) as usize);
    bytes.enumerate().fold(0, |number, (index, byte)| {
        number | u64::from(*byte) << index.saturating_mul(8)
    })
}

/// Returns a field's only valid value as a little-endian number.
pub(crate) fn constant(field: &Field) -> Option<u64> {
    match field.value.as_ref()? {
        Constant::Number(value) => Some(*value),
        Constant::Text(text) => Some(number(text.as_bytes(), 0, field.ty.size())),
    }
}
