//! The causes that have a name of their own. The first that fits a difference names it.

use super::Turn;
use crate::results::Grade;

/// A cause, and the differences that it explains: each list is empty where anything fits.
#[derive(Debug)]
pub(super) struct Known {
    /// Its permanent name.
    pub(super) id: &'static str,
    /// What the implementation does wrong.
    pub(super) title: &'static str,
    pub(super) grade: Option<Grade>,
    /// The rules that the answer broke, without `ATF-`; `*` ends a prefix.
    pub(super) rules: &'static [&'static str],
    /// The last names of places.
    pub(super) fields: &'static [&'static str],
    pub(super) turns: &'static [Turn],
    /// The value that was expected.
    pub(super) expected: Option<&'static str>,
}

impl Known {
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
        self.expected = Some(expected);
        self
    }
}

const fn known(id: &'static str, title: &'static str, rules: &'static [&'static str]) -> Known {
    Known {
        id,
        title,
        grade: None,
        rules,
        fields: &[],
        turns: &[],
        expected: None,
    }
}

/// Whatever was given though it is not so.
const TAKEN: &[Turn] = &[Turn::Believed, Turn::Extra, Turn::Other];
/// Whatever was held back though it is there.
const HELD_BACK: &[Turn] = &[Turn::Refused, Turn::Lost];
/// Whatever was read, and read wrong.
const READ: &[Turn] = &[Turn::Believed, Turn::Extra, Turn::Other, Turn::Lost];

/// The table: labels first, then what was refused without need, then what was believed without
/// proof, then rules one by one.
#[rustfmt::skip]
pub(super) const KNOWN: &[Known] = &[
    // A checksum has causes of its own, whatever grade it is seen in.
    known("checksum-unnoticed", "checksum mismatch not noticed", &[])
        .in_fields(&["checksum"]).of(Grade::Label).instead_of("mismatch"),
    known("checksum-false-alarm", "good checksum called a mismatch", &[])
        .in_fields(&["checksum"]).of(Grade::Label).instead_of("good"),
    known("checksum-unnoticed", "checksum mismatch not noticed", &["IFTR-004", "DFTR-004"]).by(TAKEN).of(Grade::Data),
    known("checksum-ieee", "checksum mismatch not noticed: IEEE CRC-32", &["IFTR-005", "DFTR-005"]).by(TAKEN).of(Grade::Data),
    known("label-verdict", "label only: verdict", &[]).in_fields(&["verdict"]).of(Grade::Label),
    known("label-count-source", "label only: how the count is known", &[]).in_fields(&["count_source"]).of(Grade::Label),
    known("label-trailing-bytes", "label only: trailing bytes", &[]).in_fields(&["trailing_bytes"]).of(Grade::Label),
    known("label-checksum", "label only: state of the checksum", &[]).in_fields(&["checksum"]).of(Grade::Label),
    known("label-manifest", "label only: state of the manifest", &[]).in_fields(&["manifest"]).of(Grade::Label),

    known("thread-spoils-session", "one bad thread takes the session with it", &["RDER-003"]),
    known("manifest-needed", "session refused or lost for its manifest", &["MANI-*"]).by(HELD_BACK),
    known("link-refuses-file", "good file refused for a link", &["LINK-*"]).by(&[Turn::Refused]),
    known("details-refuse-index", "details not read for what the other file says", &["IHDR-018", "LINK-008", "LINK-009", "LINK-010"]).by(HELD_BACK),
    known("thread-id-refused", "file refused for a thread id that differs", &["IEVT-003", "DEVT-004", "SESS-001", "SESS-004"]).by(HELD_BACK),
    known("reserved-refused", "file refused for reserved bytes or flags",
        &["IHDR-012", "IHDR-013", "DHDR-008", "IEVT-005", "DEVT-005", "DPAY-003", "IFTR-008", "DFTR-008"]).by(HELD_BACK),
    known("unknown-value-refused", "file refused for an unknown value",
        &["IHDR-008", "IHDR-009", "IHDR-010", "IHDR-011", "DHDR-006", "DHDR-007", "IEVT-002", "DEVT-003", "LINK-007"]).by(HELD_BACK),
    known("times-refused", "file refused for its times", &["IEVT-001", "IHDR-016", "DHDR-011", "IFTR-007", "DFTR-007"]).by(HELD_BACK),
    known("unfinalized-lost", "events of an unfinalized file lost", &["IFTR-001", "DFTR-001", "RDER-001", "IHDR-017", "DHDR-012",
            "IFTR-010", "DFTR-010", "IFTR-011", "DFTR-011", "IFTR-012", "DFTR-012"]).by(HELD_BACK),

    known("footer-one-place", "footer sought in one place only", &["IFTR-009", "DFTR-009", "IHDR-015"]),
    known("footer-as-events", "footer read as events", &["IHDR-017", "DHDR-012", "IFTR-013", "DFTR-013"]).by(READ),
    known("unfinalized-misread", "unfinalized file misread", &["IFTR-001", "DFTR-001", "RDER-001"]).by(READ),
    known("torn-footer", "truncated footer read as events", &["IFTR-012", "DFTR-012"]).by(READ),
    known("torn-event", "truncated event mishandled", &["IFTR-010", "DFTR-010"]).by(READ),
    known("zero-tail", "zeros after the last event counted as events", &["IFTR-011", "DFTR-011"]).by(READ),
    known("hole-moved", "events of zeros mishandled", &["IEVT-006"]),
    known("count-believed", "footer's count believed without proof", &["IFTR-002", "DFTR-002"]).by(READ),
    known("section-end-believed", "footer's length believed without proof", &["IFTR-003", "DFTR-003"]).by(READ),
    known("header-believed", "header believed over the footer",
        &["IHDR-014", "IHDR-016", "DHDR-009", "DHDR-010", "DHDR-011", "RDER-002"]).by(READ),
    known("footer-times", "footer's fields misread", &["IFTR-007", "DFTR-007"]).by(READ),
    known("events-offset", "events_offset believed without proof", &["IHDR-007", "DHDR-005"]).by(READ),
    known("invalid-header-read", "file with an invalid header read",
        &["IHDR-001", "IHDR-002", "IHDR-003", "IHDR-004", "IHDR-006", "DHDR-001", "DHDR-002", "DHDR-003", "DHDR-004"]).by(TAKEN),
    known("other-layout", "layout of the other wire version read", &["IHDR-005", "LINK-008"]).by(TAKEN),
    known("length-believed", "event's length believed without proof", &["DEVT-001", "DEVT-002"]).by(READ),
    known("payload-shape", "payload decoded as what it is not", &["DPAY-*", "DEVT-003"]).by(READ),
    known("links-unproven", "links not followed both ways", &["LINK-001", "LINK-002", "LINK-003", "LINK-004", "LINK-005"]).by(READ),
    known("manifest-paths", "path in the manifest followed", &["MANI-003"]).by(TAKEN),
    known("manifest-list-believed", "manifest's list of threads believed", &["MANI-004", "MANI-005", "MANI-006", "MANI-007"]).by(TAKEN),
    known("session-times", "session's times not those of its events", &["MANI-008", "RDER-013"]).by(READ),
    known("symlink-followed", "symlink followed", &["SESS-003"]).by(READ),
    known("kill-journal-believed", "ring.atf believed without proof", &["RING-*"]).by(TAKEN),
    known("kill-journal-lost", "events that only ring.atf has lost", &["RING-*"]).by(HELD_BACK),
    known("merge-order", "threads merged in another order", &["RDER-004"]).by(READ),
];
