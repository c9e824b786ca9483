//! Known mistakes in implementations, and the effects of broken rules.

use std::sync::LazyLock;

use serde::Serialize;

/// A known mistake of readers or writers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Flag {
    /// The permanent name.
    pub name: &'static str,
    /// The mistake and its effect.
    pub note: &'static str,
}

/// All flags, in the order of the lines of the file.
pub static FLAGS: LazyLock<Vec<Flag>> = LazyLock::new(|| {
    let lines = include_str!("flags.txt").lines();
    let rows = lines.filter_map(|line| line.split_once(' '));
    rows.map(|(name, note)| Flag { name, note }).collect()
});

/// A rule that readers do not check and what happens if a file breaks it, in each line.
pub const EFFECTS: &str = include_str!("effects.txt");

/// Describes the effect of a broken rule, in a sentence or two.
#[must_use]
pub fn effect(rule: &str) -> &'static str {
    let mut effects = EFFECTS.lines().filter_map(|line| line.split_once(' '));
    let found = effects.find(|(id, _)| *id == rule);
    found.map_or("", |(_, effect)| effect)
}

/// Returns the known mistake that every violation of this rule reveals.
pub(super) fn flag_of(rule: &str) -> Option<&'static str> {
    let flag = match rule {
        "ATF-IHDR-005" => "other-layout",
        "ATF-IHDR-007" | "ATF-DHDR-005" => "events-offset-outside",
        "ATF-IHDR-017" | "ATF-DHDR-012" => "crash-before-header",
        "ATF-IEVT-001" => "times-go-back",
        "ATF-IEVT-006" => "hole",
        "ATF-IFTR-004" | "ATF-DFTR-004" => "wrong-checksum",
        "ATF-IFTR-005" | "ATF-DFTR-005" => "ieee-checksum",
        "ATF-IFTR-011" | "ATF-DFTR-011" => "zero-tail",
        "ATF-IFTR-012" | "ATF-DFTR-012" => "cut-in-footer",
        "ATF-DEVT-001" | "ATF-DEVT-002" => "impossible-length",
        "ATF-DFTR-002" => "detail-count-lies",
        "ATF-DPAY-002" => "opaque-payload",
        "ATF-IEVT-003" | "ATF-DEVT-004" | "ATF-SESS-001" | "ATF-LINK-009" => "thread-ids-disagree",
        "ATF-LINK-002" => "links-dangling",
        "ATF-MANI-001" | "ATF-MANI-002" => "broken-manifest",
        "ATF-MANI-004" => "thread-listed-twice",
        "ATF-SESS-003" => "symbolic-link",
        _ => return None,
    };
    Some(flag)
}
