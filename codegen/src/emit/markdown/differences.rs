//! What differs between the wire versions.

use atf_spec::layout::{Field, Layout, Record, Wire};
use serde::Serialize;

use super::links::{self, Link};

/// A field that is not the same in every wire version.
#[derive(Serialize)]
pub(super) struct Difference {
    /// The record, by its title.
    record: Link,
    field: Link,
    /// What each wire version has, in the order of the wire versions; none where it lacks the
    /// field.
    versions: Vec<Option<String>>,
}

/// The fields of all records that differ.
pub(super) fn of_layout(layout: &Layout) -> Vec<Difference> {
    let records = layout.records.iter();
    records
        .flat_map(|record| of_record(record, &layout.wires))
        .collect()
}

/// The fields of a record that differ, in the order in which the wire versions have them.
pub(super) fn of_record(record: &Record, wires: &[Wire]) -> Vec<Difference> {
    let mut names: Vec<&str> = Vec::new();
    for field in record.layouts.iter().flat_map(|layout| &layout.fields) {
        if !names.contains(&field.name.as_str()) {
            names.push(&field.name);
        }
    }
    let difference = |name: &str| {
        let layout = |wire: &Wire| record.layout(*wire);
        let versions: Vec<Option<String>> = wires
            .iter()
            .map(|wire| layout(wire)?.field(name).map(describe))
            .collect();
        let differs = versions.windows(2).any(|pair| pair[0] != pair[1]);
        differs.then(|| Difference {
            record: links::record(record),
            field: links::field(name, &record.name, name),
            versions,
        })
    };
    names.into_iter().filter_map(difference).collect()
}

/// Type, place and special values of a field.
fn describe(field: &Field) -> String {
    let mut text = format!("{} at {}", field.ty, field.offset);
    if let Some(value) = &field.value {
        text += &format!(" = {value}");
    }
    if let Some(none) = field.none {
        text += &format!(", {none:#X} is none");
    }
    text.replace("0X", "0x")
}
