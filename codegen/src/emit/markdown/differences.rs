//! Differences between the wire versions, with links to the pages.

use atf_spec::difference;
use atf_spec::layout::{Layout, Record, Wire};
use serde::Serialize;

use super::links::{self, Link};

/// A field that differs between the wire versions.
#[derive(Serialize)]
pub(super) struct Difference {
    /// A link to the record's page, under the record's title.
    record: Link,
    field: Link,
    /// The field in each wire version, in order; `None` if the version lacks the field.
    versions: Vec<Option<String>>,
}

/// Returns the fields of all records that differ between the wire versions.
pub(super) fn of_layout(layout: &Layout) -> Vec<Difference> {
    let records = layout.records.iter();
    records
        .flat_map(|record| of_record(record, &layout.wires))
        .collect()
}

/// Returns the fields of a record that differ between these wire versions.
pub(super) fn of_record(record: &Record, wires: &[Wire]) -> Vec<Difference> {
    let differences = difference::differences(record, wires).into_iter();
    differences
        .map(|difference| Difference {
            record: links::record(record),
            field: links::field(difference.name, &record.name, difference.name),
            versions: difference.versions,
        })
        .collect()
}
