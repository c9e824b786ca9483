//! Differences between the wire versions, with links to the pages.

use atf_spec::difference;
use atf_spec::layout::{Layout, Record, Wire};
use serde_json::{Value, json};

use super::links;

/// Returns the fields of all records that differ between the wire versions.
pub(super) fn of_layout(layout: &Layout) -> Vec<Value> {
    let records = layout.records.iter();
    records
        .flat_map(|record| of_record(record, &layout.wires))
        .collect()
}

/// Returns the fields of a record that differ between these wire versions.
pub(super) fn of_record(record: &Record, wires: &[Wire]) -> Vec<Value> {
    let differences = difference::differences(record, wires).into_iter();
    differences
        .map(|difference| {
            json!({
                "record": links::record(record),
                "field": links::field(difference.name, &record.name, difference.name),
                // In the order of the wire versions; null if a version does not have the field.
                "versions": difference.versions,
            })
        })
        .collect()
}
