//! Finds differences between wire versions.

use std::fmt::Write;

use crate::layout::{Field, Record, Wire};

/// A field that differs between wire versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference<'a> {
    /// The field's name.
    pub name: &'a str,
    /// The field in each wire version, as returned by [`describe`]; `None` if the version does not
    /// have it.
    pub versions: Vec<Option<String>>,
}

/// Returns the fields of a record that differ between wire versions, in the order of the wire
/// versions.
#[must_use]
pub fn differences<'a>(record: &'a Record, wires: &[Wire]) -> Vec<Difference<'a>> {
    let layouts: Vec<_> = wires.iter().map(|wire| record.layout(*wire)).collect();
    let mut names: Vec<&str> = Vec::new();
    for field in layouts.iter().flatten().flat_map(|layout| &layout.fields) {
        if !names.contains(&field.name.as_str()) {
            names.push(&field.name);
        }
    }
    let difference = |name| {
        let version = |layout: &Option<&crate::layout::RecordLayout>| {
            layout.and_then(|layout| layout.field(name)).map(describe)
        };
        let versions: Vec<_> = layouts.iter().map(version).collect();
        let differs = versions.windows(2).any(|pair| pair[0] != pair[1]);
        differs.then_some(Difference { name, versions })
    };
    names.into_iter().filter_map(difference).collect()
}

/// Describes a field's type, offset and special values: `u32 at 28, 0xffffffff means none`.
#[must_use]
pub fn describe(field: &Field) -> String {
    let mut text = format!("{} at {}", field.ty, field.offset);
    // Writing to a string cannot fail.
    if let Some(value) = &field.value {
        let _ = write!(text, " = {value}");
    }
    if let Some(none) = field.none {
        let _ = write!(text, ", {none:#x} means none");
    }
    text
}
