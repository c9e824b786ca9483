//! The parts of a difference that help to find its cause.

use crate::results::{Difference, Grade};

#[derive(Debug)]
pub(super) struct Clues<'a> {
    pub(super) grade: Grade,
    pub(super) rule: &'a str,
    /// The last name in the place, such as `detail_seq` in `threads[0].index.events[3].detail_seq`.
    pub(super) field: &'a str,
    pub(super) turn: Turn,
    pub(super) expected: &'a str,
    pub(super) got: &'a str,
}

/// The way in which an answer is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Turn {
    /// The answer rejects a readable file.
    Refused,
    /// The answer accepts a file that must be rejected or recovered, or reads one that must be
    /// rejected.
    Believed,
    /// The answer contains something that is not in the file.
    Extra,
    /// Something in the file is missing from the answer.
    Lost,
    /// The answer has a wrong value.
    Other,
}

impl Turn {
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Believed => "believed",
            Self::Extra => "invented",
            Self::Lost => "lost",
            Self::Other => "wrong",
        }
    }
}

/// Returns the last two names of a place, without positions: `["events", "call_depth"]`.
pub(super) fn path(place: &str) -> Vec<&str> {
    // If the difference is in a writer's files, the file's name precedes the field.
    let place = place.rsplit(": ").next().unwrap_or_default();
    let names = place.rsplit('.').take(2);
    let names = names.map(|name| name.split('[').next().unwrap_or_default());
    let mut names: Vec<_> = names.collect();
    // A list of events has the same name in a file and in a session.
    if matches!(names.first(), Some(&("events" | "footer"))) {
        names.truncate(1);
    }
    names.reverse();
    names
}

impl<'a> Clues<'a> {
    pub(super) fn new(difference: &'a Difference, rule: &'a str) -> Self {
        let field = path(&difference.place).pop().unwrap_or_default();
        // Values in documents are JSON.
        let expected = difference.expected.trim_matches('"');
        let got = difference.got.trim_matches('"');
        let turn = match (field, expected, got) {
            ("verdict", _, "reject") => Turn::Refused,
            ("verdict", "reject" | "recover or reject", _) | ("verdict", "recover", "accept") => {
                Turn::Believed
            }
            (_, "nothing", _) => Turn::Extra,
            (_, _, "nothing") => Turn::Lost,
            _ => Turn::Other,
        };
        Self {
            grade: difference.grade,
            rule: rule.strip_prefix("ATF-").unwrap_or(rule),
            field,
            turn,
            expected,
            got,
        }
    }
}
