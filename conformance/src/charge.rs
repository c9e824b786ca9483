//! Describes the charge for a failure: the broken rule, or the misread field of the format.

use crate::results::NO_RULE;
use crate::rules;
use atf_report::counted;
use atf_samples::layout::Record;

type Row = (Record, &'static str, &'static str);

/// The records, with their rules' group and the sources of their layout.
const RECORDS: [Row; 7] = [
    (Record::IndexHeader, "IHDR", "S0, S1, S2"),
    (Record::IndexEvent, "IEVT", "S0, S1, S2, S3"),
    (Record::IndexFooter, "IFTR", "S0, S1, S2"),
    (Record::DetailHeader, "DHDR", "S1, S2, S4"),
    (Record::DetailEventHeader, "DEVT", "S1, S2, S3, S4"),
    (Record::DetailFunctionPayload, "DPAY", "S1, S4"),
    (Record::DetailFooter, "DFTR", "S1, S2, S4"),
];

/// Splits a charge into a row of [`RECORDS`] and the field's name.
fn record(charge: &str) -> Option<(&'static Row, &str)> {
    let (name, field) = charge.split_once('.').unwrap_or((charge, ""));
    let mut records = RECORDS.iter();
    Some((records.find(|(record, ..)| record.name() == name)?, field))
}

/// Returns the group of the rules about a charge, such as `IFTR` for `ATF-IFTR-004` and for
/// `index_footer.checksum`.
#[must_use]
pub fn group(charge: &str) -> &str {
    match record(charge) {
        Some(((_, group, _), _)) => group,
        None => charge.split('-').nth(1).unwrap_or(charge),
    }
}

/// Returns a rule's sentence, severity and sources, or a field's location in its record and the
/// sources of this layout. Returns nothing for an unknown rule.
#[must_use]
pub fn sentence(charge: &str) -> Option<String> {
    if let Some(rule) = rules::find(charge) {
        let severity = rule.severity.name();
        let sources = rule.sources.join(", ");
        let sources = if sources.is_empty() {
            "our decision"
        } else {
            &sources
        };
        return Some(format!("{} ({severity}; {sources})", rule.rule));
    }
    if charge == NO_RULE {
        return Some("the files break no rule".to_owned());
    }
    if let Some(label) = charge.strip_prefix("derived.") {
        return Some(format!("{label}, as the protocol defines it"));
    }
    let ((record, _, sources), field) = record(charge)?;
    let bytes = |size: usize| counted(size as u64, "byte");
    let place = |wire| {
        let mut fields = record.fields(wire).iter();
        let found = fields.find(|it| it.name == field)?;
        Some(format!("{} at offset {}", bytes(found.size), found.offset))
    };
    let places = match (place(1), place(2)) {
        (Some(one), Some(two)) if one != two => format!("{one}, or {two} in version 2"),
        (Some(one), Some(_)) => one,
        (Some(one), None) => format!("{one}, only in version 1"),
        (None, Some(two)) => format!("{two}, only in version 2"),
        (None, None) => bytes(record.size()),
    };
    let name = record.name().replace('_', " ");
    let what = match field {
        "" => name,
        field => format!("{field} of the {name}"),
    };
    Some(format!("{what}: {places} ({sources})"))
}
