//! The cost of a broken rule to readers, which its severity for writers does not show.

use atf::rules::{Rule, Severity};

/// The rules that are less than a MUST for writers, but whose findings mean that events or names are
/// missing.
const MISSING: [&str; 4] = [
    "ATF-MANI-001",
    "ATF-MANI-014",
    "ATF-MANI-016",
    "ATF-SESS-003",
];

/// The rules that are advice for writers, but whose findings mean that a file lost its end or
/// details.
const DOUBTFUL: [&str; 8] = [
    "ATF-DFTR-010",
    "ATF-DFTR-011",
    "ATF-DFTR-012",
    "ATF-IFTR-010",
    "ATF-IFTR-011",
    "ATF-IFTR-012",
    "ATF-LINK-002",
    "ATF-LINK-004",
];

/// Returns the severity that a broken rule has for readers.
pub(super) fn cost(rule: &Rule) -> Severity {
    if MISSING.contains(&rule.id) {
        Severity::Must
    } else if DOUBTFUL.contains(&rule.id) {
        Severity::Should
    } else {
        rule.severity
    }
}
