//! The named causes. A difference is attributed to the first cause that it matches.

use super::clues::{Clues, Turn};
use crate::results::Grade;

/// A cause and the differences it explains. An empty list matches everything.
#[derive(Debug)]
pub struct Known {
    /// The permanent id.
    pub id: &'static str,
    /// The mistake in the implementation.
    pub title: &'static str,
    /// Whether the difference itself is the mistake. Otherwise, the mistake is only the usual reason
    /// for such a difference.
    pub is_seen: bool,
    /// The grade of the difference.
    pub grade: Option<Grade>,
    /// The rules that the answer broke, without `ATF-`. A trailing `*` matches any ending.
    pub rules: &'static [&'static str],
    /// The last name in the path of a difference.
    pub fields: &'static [&'static str],
    /// How the answer is wrong.
    pub(super) turns: &'static [Turn],
    /// The expected and the returned value.
    pub values: (Option<&'static str>, Option<&'static str>),
}

impl Known {
    pub(super) fn fits(&self, clues: &Clues<'_>) -> bool {
        let is_rule = |pattern: &&str| match pattern.strip_suffix('*') {
            Some(prefix) => clues.rule.starts_with(prefix),
            None => clues.rule == *pattern,
        };
        self.grade.is_none_or(|grade| grade == clues.grade)
            && (self.rules.is_empty() || self.rules.iter().any(is_rule))
            && (self.fields.is_empty() || self.fields.contains(&clues.field))
            && (self.turns.is_empty() || self.turns.contains(&clues.turn))
            && self.values.0.is_none_or(|value| value == clues.expected)
            && self.values.1.is_none_or(|value| value == clues.got)
    }

    const fn in_fields(mut self, fields: &'static [&'static str]) -> Self {
        self.fields = fields;
        self
    }

    const fn by(mut self, turns: &'static [Turn]) -> Self {
        self.turns = turns;
        self
    }

    const fn of(mut self, grade: Grade) -> Self {
        self.grade = Some(grade);
        self
    }

    const fn instead_of(mut self, expected: &'static str) -> Self {
        self.values.0 = Some(expected);
        self
    }

    const fn got(mut self, got: &'static str) -> Self {
        self.values.1 = Some(got);
        self
    }

    const fn seen(mut self) -> Self {
        self.is_seen = true;
        self
    }
}

const fn known(id: &'static str, title: &'static str, rules: &'static [&'static str]) -> Known {
    Known {
        id,
        title,
        is_seen: false,
        grade: None,
        rules,
        fields: &[],
        turns: &[],
        values: (None, None),
    }
}

/// The ways in which an answer can accept something wrong.
const TAKEN: &[Turn] = &[Turn::Believed, Turn::Extra, Turn::Other];
/// The ways in which an answer can omit something valid.
const HELD_BACK: &[Turn] = &[Turn::Refused, Turn::Lost];
/// The ways in which an answer can misread something.
const READ: &[Turn] = &[Turn::Believed, Turn::Extra, Turn::Other, Turn::Lost];

/// The causes, in this order: labels, needlessly rejected files, values trusted without checking,
/// single rules.
#[rustfmt::skip]
pub const KNOWN: &[Known] = &[
    // Checksum mistakes have their own causes, in both grades.
    known("checksum-unnoticed", "checksum mismatch not noticed", &[])
        .in_fields(&["checksum"]).of(Grade::Label).instead_of("bad").seen(),
    known("checksum-false-alarm", "valid checksum reported as a mismatch", &[])
        .in_fields(&["checksum"]).of(Grade::Label).instead_of("good").got("bad").seen(),
    known("checksum-unnoticed", "checksum mismatch not noticed", &["IFTR-004", "DFTR-004"])
        .by(&[Turn::Believed]).of(Grade::Data).seen(),
    known("checksum-ieee", "checksum mismatch not noticed: IEEE CRC-32", &["IFTR-005", "DFTR-005"])
        .by(&[Turn::Believed]).of(Grade::Data).seen(),
    known("label-count-source", "label only: source of the count", &[]).in_fields(&["count_source"]).of(Grade::Label).seen(),
    known("label-trailing-bytes", "label only: trailing bytes", &[]).in_fields(&["trailing_bytes"]).of(Grade::Label).seen(),
    known("label-checksum", "label only: checksum state", &[]).in_fields(&["checksum"]).of(Grade::Label).seen(),
    known("label-accept", "label only: accept instead of recover", &[]).in_fields(&["verdict"]).of(Grade::Label)
        .instead_of("recover").got("accept").seen(),
    known("label-recover", "label only: recover instead of accept", &[]).in_fields(&["verdict"]).of(Grade::Label)
        .instead_of("accept").got("recover").seen(),
    known("label-manifest", "label only: manifest state", &[]).in_fields(&["manifest"]).of(Grade::Label).seen(),

    known("thread-spoils-session", "one bad thread fails the whole session", &["RDER-003"]),
    known("manifest-needed", "session lost over its manifest", &["MANI-*"]).by(HELD_BACK),
    known("link-refuses-file", "good file rejected over a link", &["LINK-*"]).by(&[Turn::Refused]),
    known("details-refuse-index", "details lost over the other file", &["IHDR-018", "LINK-008", "LINK-009", "LINK-010"]).by(HELD_BACK),
    known("thread-id-refused", "rejected over a differing thread id", &["IEVT-003", "DEVT-004", "SESS-001", "SESS-004"]).by(HELD_BACK),
    known("reserved-refused", "rejected over reserved bytes or flags",
        &["IHDR-012", "IHDR-013", "DHDR-008", "IEVT-005", "DEVT-005", "DPAY-003", "IFTR-008", "DFTR-008"]).by(HELD_BACK),
    known("unknown-value-refused", "file rejected over an unknown value",
        &["IHDR-008", "IHDR-009", "IHDR-010", "IHDR-011", "DHDR-006", "DHDR-007", "IEVT-002", "DEVT-003", "LINK-007"]).by(HELD_BACK),
    known("times-refused", "file rejected over its times", &["IEVT-001", "IHDR-016", "DHDR-011", "IFTR-007", "DFTR-007"]).by(HELD_BACK),
    known("unfinalized-lost", "events of an unfinalized file lost", &["IFTR-001", "DFTR-001", "RDER-001", "IHDR-017", "DHDR-012",
            "IFTR-010", "DFTR-010", "IFTR-011", "DFTR-011", "IFTR-012", "DFTR-012"]).by(HELD_BACK),

    known("footer-one-place", "footer looked for in one place only", &["IFTR-009", "DFTR-009", "IHDR-015"]),
    known("footer-as-events", "footer read as events", &["IHDR-017", "DHDR-012", "IFTR-013", "DFTR-013"]).by(TAKEN),
    known("unfinalized-misread", "unfinalized file misread", &["IFTR-001", "DFTR-001", "RDER-001"]).by(READ),
    known("torn-footer", "truncated footer read as events", &["IFTR-012", "DFTR-012"]).by(TAKEN),
    known("torn-event", "truncated event mishandled", &["IFTR-010", "DFTR-010"]).by(READ),
    known("zero-tail", "zeros at the end counted as events", &["IFTR-011", "DFTR-011"]).by(TAKEN),
    known("hole-moved", "all-zero events mishandled", &["IEVT-006"]),
    known("count-believed", "footer's count trusted, not checked", &["IFTR-002", "DFTR-002"]).by(READ),
    known("section-end-believed", "footer's length trusted, not checked", &["IFTR-003", "DFTR-003"]).by(READ),
    known("header-believed", "header trusted over the footer",
        &["IHDR-014", "IHDR-016", "DHDR-009", "DHDR-010", "DHDR-011", "RDER-002"]).by(READ),
    known("footer-times", "footer's fields misread", &["IFTR-007", "DFTR-007"]).by(READ),
    known("events-offset", "events_offset trusted without checking", &["IHDR-007", "DHDR-005"]).by(READ),
    known("invalid-header-read", "file with an invalid header accepted",
        &["IHDR-001", "IHDR-002", "IHDR-003", "IHDR-004", "IHDR-006", "DHDR-001", "DHDR-002", "DHDR-003", "DHDR-004"])
        .by(&[Turn::Believed]).seen(),
    known("other-layout", "read with the other version's layout", &["IHDR-005", "LINK-008"]).by(TAKEN),
    known("length-believed", "event length trusted without checking", &["DEVT-001", "DEVT-002"]).by(READ),
    known("payload-shape", "payload decoded as the wrong type", &["DPAY-*", "DEVT-003"]).by(READ),
    known("links-unproven", "links not checked in both directions", &["LINK-001", "LINK-002", "LINK-003", "LINK-004", "LINK-005"]).by(READ),
    known("manifest-threads", "thread taken from the manifest", &["MANI-003"]).in_fields(&["threads"]).by(&[Turn::Extra]).seen(),
    known("manifest-list-believed", "manifest's thread list trusted", &["MANI-004", "MANI-005", "MANI-006", "MANI-007"]).by(TAKEN),
    known("session-times", "session times differ from its events", &["MANI-008", "RDER-013"]).by(READ),
    known("symlink-followed", "symlink followed", &["SESS-003"]).by(READ),
    known("kill-journal-believed", "ring.atf trusted without checking", &["RING-*"]).by(TAKEN),
    known("kill-journal-lost", "events found only in ring.atf lost", &["RING-*"]).by(HELD_BACK),
    known("merge-order", "threads merged in the wrong order", &["RDER-004"]).by(READ),
];
