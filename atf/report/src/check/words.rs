//! Describes findings for several report formats.

use crate::Printable;
use atf::check::{Finding, Place};

/// Formats a finding, such as `footer.checksum (at 0x70c4): 0, expected 1; 5 times in all, next at
/// events[3].depth`.
pub(super) fn problem(finding: &Finding) -> String {
    let (place, message) = (place(&finding.place), Printable(&finding.message));
    let more = finding.more.first().map_or(String::new(), |next| {
        let field = Printable(&next.field);
        format!("; {} times in all, next at {field}", finding.count)
    });
    format!("{place}{message}{more}")
}

/// Formats a finding with its rule, such as `must ATF-IFTR-004 footer.checksum (at 0x70c4): 0,
/// expected 1`.
pub(super) fn line(finding: &Finding) -> String {
    let (severity, id) = (finding.rule.severity.name(), finding.rule.id);
    format!("{severity} {id} {}", problem(finding))
}

/// Formats a place, such as `footer.checksum (at 0x70c4): `. Either part may be missing.
fn place(place: &Place) -> String {
    match (place.field.as_str(), place.offset) {
        ("", None) => String::new(),
        ("", Some(offset)) => format!("at {offset:#x}: "),
        (field, None) => format!("{}: ", Printable(field)),
        (field, Some(offset)) => format!("{} (at {offset:#x}): ", Printable(field)),
    }
}
