//! Decides which rules a file with two faults breaks, and which of them a check reports.
//!
//! Each set lists the ends of rules' ids, so that `FTR-001` covers both kinds of file.

use super::parts::Parts;

/// Why a check does not report a broken rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hidden {
    /// The header is rejected, so the rest is not checked.
    Refused,
    /// The footer is damaged, so nothing is compared with it.
    Damaged,
    /// The events after an impossible length are unknown.
    Unframed,
}

/// A reader rejects a header that breaks one of these rules. They are in the order of its checks.
const REFUSED: &[&str] = &[
    "HDR-001", "HDR-002", "HDR-003", "HDR-004", "DHDR-005", "IHDR-005", "IHDR-006", "IHDR-007",
];
/// The file has no footer.
const UNFINALIZED: &[&str] = &["FTR-001"];
/// The footer does not fit the file.
const DAMAGED: &[&str] = &["FTR-002", "FTR-003", "FTR-013"];
/// The footer has another fault.
const FOOTER: &[&str] = &[
    "FTR-004", "FTR-005", "FTR-006", "FTR-007", "FTR-008", "FTR-009",
];
/// The header was never rewritten.
const PLACEHOLDER: &[&str] = &["IHDR-017", "DHDR-012"];
/// The header of a finalized file differs from the values that it repeats.
const REPEATED: &[&str] = &["IHDR-015", "IHDR-016", "DHDR-010", "DHDR-011"];
/// The header's count is wrong.
const COUNT: &[&str] = &["IHDR-014", "DHDR-009"];
/// The events begin at another offset.
const BEGINNING: &[&str] = &["IHDR-007", "DHDR-005"];
/// An event has an impossible length.
const UNFRAMED: &[&str] = &["DEVT-001", "DEVT-002"];
/// Only reading all details reveals this.
const OF_ALL_DETAILS: &[&str] = &["DHDR-011", "DFTR-002", "DFTR-007"];
/// Only the times of the first and the last index event reveal this.
const TIMES: &[&str] = &["IHDR-016", "IFTR-007"];
/// A file that breaks the first rule does not break the second, which is about known values.
const KNOWN_ONLY: &[(&str, &str)] = &[
    ("IHDR-009", "IHDR-011"),
    ("IHDR-010", "IHDR-011"),
    ("DEVT-003", "DPAY-002"),
];
/// With an impossible length, a file that breaks the first rule also breaks the second.
const ALSO: &[(&str, &str)] = &[
    // The events cannot be counted, so the header's count is compared with the footer's.
    ("DFTR-002", "ATF-DHDR-009"),
    // No footer proves where the events end, so they end in a torn one.
    ("DFTR-003", "ATF-DFTR-010"),
    ("DFTR-013", "ATF-DFTR-010"),
];

fn has(broken: &[&str], set: &[&str]) -> bool {
    broken.iter().any(|rule| is_of(rule, set))
}

fn is_of(rule: &str, set: &[&str]) -> bool {
    set.iter().any(|end| rule.ends_with(end))
}

/// Corrects the list of the rules that the composed file breaks.
pub(super) fn settle(broken: &mut Vec<&str>, parts: &Parts) {
    let is_unfinalized = has(broken, UNFINALIZED);
    let remove = |broken: &mut Vec<&str>, set: &[&str]| broken.retain(|rule| !is_of(rule, set));
    if is_unfinalized {
        for set in [FOOTER, DAMAGED, REPEATED, PLACEHOLDER, UNFRAMED] {
            remove(broken, set);
        }
    }
    if (is_unfinalized || has(broken, DAMAGED)) && !parts.lacks_events() {
        remove(broken, COUNT);
    }
    // Without a footer, nothing contradicts an offset inside the file.
    if (is_unfinalized || has(broken, &["FTR-013"])) && parts.may_begin_later() {
        remove(broken, BEGINNING);
    }
    if has(broken, PLACEHOLDER) && parts.is_placeholder() {
        remove(broken, COUNT);
        remove(broken, REPEATED);
    } else {
        remove(broken, PLACEHOLDER);
    }
    if !parts.lacks_checksum() {
        remove(broken, &["FTR-006"]);
    }
    for (unknown, rule) in KNOWN_ONLY {
        if has(broken, &[unknown]) {
            remove(broken, &[rule]);
        }
    }
    if has(broken, UNFRAMED) {
        for (one, also) in ALSO {
            if has(broken, &[one]) && !broken.contains(also) {
                broken.push(also);
            }
        }
    }
    if has(broken, &["IEVT-006"]) {
        let times = parts.times();
        let is_known = |time: Option<&Option<u64>>| time.is_some_and(Option::is_some);
        if !is_known(times.first()) || !is_known(times.last()) {
            remove(broken, TIMES);
        }
        // A matching checksum proves that zeros were written, and zeros at the end of an unfinalized
        // file are no gap.
        if times.iter().all(Option::is_some) || (is_unfinalized && !is_known(times.last())) {
            remove(broken, &["IEVT-006"]);
        }
        let goes_back =
            |pair: &[Option<u64>]| matches!(pair, [Some(one), Some(next)] if next < one);
        if !times.windows(2).any(goes_back) {
            remove(broken, &["IEVT-001"]);
        }
    }
}

/// Returns why a check does not report one of the broken rules, or `None` if it does.
pub(super) fn hidden(rule: &str, broken: &[&str]) -> Option<Hidden> {
    if let Some(first) = REFUSED.iter().find(|end| has(broken, &[end])) {
        return (!rule.ends_with(first)).then_some(Hidden::Refused);
    }
    let is_compared = [FOOTER, REPEATED, PLACEHOLDER]
        .into_iter()
        .any(|set| is_of(rule, set));
    // If a detail file's footer is not at the offset that it states, its count is not compared.
    let is_unasked = rule.ends_with("DFTR-002") && has(broken, &["DFTR-003", "DFTR-013"]);
    if (is_compared && has(broken, DAMAGED)) || is_unasked {
        return Some(Hidden::Damaged);
    }
    let is_unknown = is_of(rule, OF_ALL_DETAILS) && has(broken, UNFRAMED);
    is_unknown.then_some(Hidden::Unframed)
}
