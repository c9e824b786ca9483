//! Grades a writer's files, by checking the rules and by comparing the files with the script byte
//! by byte.
//!
//! A library's reader alone could not judge the files of its writer, because both could share a
//! mistake. Therefore, every byte is also compared with the hand-typed tables of the corpus.

mod compare;
mod document;
mod expected;
mod folder;
mod full;
pub mod library;
mod rules;
mod settle;
mod sizes;

use std::path::Path;

pub use document::Documents;
pub(crate) use rules::broken;

use crate::results::{Difference, Failure, Note, Outcome};
use crate::scripts::{Script, Scripted};
use atf_samples::layout::Record;

/// The size of each header and footer, in bytes.
const END_SIZE: usize = Record::IndexHeader.size();
/// The size of an event in `index.atf`, in bytes.
const EVENT_SIZE: usize = Record::IndexEvent.size();
/// The size of an event in `detail.atf` without its payload, in bytes.
const DETAIL_SIZE: usize = Record::DetailEventHeader.size();

/// The grade of a writer's files.
#[derive(Debug, Clone, PartialEq)]
pub struct Graded {
    /// Whether the files passed.
    pub outcome: Outcome,
    /// The share of what was asked that the implementation answered, from 0 to 1.
    pub share: f64,
    /// Broken SHOULDs, and events lost in a kill. Neither fails the case.
    pub notes: Vec<Note>,
}

impl From<Outcome> for Graded {
    fn from(outcome: Outcome) -> Self {
        Self {
            share: if matches!(outcome, Outcome::Skipped { .. }) {
                0.0
            } else {
                1.0
            },
            outcome,
            notes: Vec::new(),
        }
    }
}

/// Grades the files that a writer wrote into the folder `out` for a script. `features` are the
/// features that the writer claims to support.
#[must_use]
pub fn grade(scripted: &Scripted, features: &[String], out: &Path) -> Graded {
    let sized = sizes::check(&scripted.script, out);
    if scripted.limit.is_some() && sized.is_ok() {
        return full::grade(scripted, out);
    }
    let settled = match sized.and_then(|()| settle::settle(&scripted.script, out)) {
        Ok(settled) => settled,
        Err(wrong) => {
            return wrong.failed(&rules::Found::default()).into();
        }
    };
    let script = &settled.script;
    let mut found = rules::Found::check(out);
    found.keep(|file| settled.begins(&scripted.script, file));
    let mut notes = found.notes(script);
    notes.extend(settled.lost);
    let compared =
        library::count(script, out).and_then(|()| folder::compare(scripted, script, features, out));
    let outcome = match (found.broken_must(compared.as_ref().err()), compared) {
        (Some((broken, message)), compared) => {
            // The header and the footer describe the events, so a difference in these comes first.
            let cause = compared.as_ref().err().filter(|wrong| wrong.is_in_events());
            let cause = cause.filter(|_| !broken.is_in_events());
            let cause = cause.and_then(|wrong| wrong.charged(&found));
            let own = broken.difference(out, compared.err());
            Outcome::Failed {
                class: Failure::Rule,
                message,
                differences: cause.into_iter().chain([own]).collect(),
            }
        }
        (None, Err(wrong)) => wrong.failed(&found),
        (None, Ok(())) => match library::compare(script, out) {
            Ok(()) => Outcome::Passed,
            Err(wrong) => wrong.failed(&found),
        },
    };
    Graded {
        notes,
        ..outcome.into()
    }
}

/// Returns the part of a script that is on disk after a kill or a close.
#[must_use]
pub fn settled(script: &Script, out: &Path) -> Script {
    match settle::settle(script, out) {
        Ok(settled) => settled.script,
        Err(_) => script.clone(),
    }
}

/// A difference from the script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// The file, and what is wrong with it.
    pub message: String,
    /// The place and the values, if known.
    pub difference: Option<Box<Difference>>,
}

impl Wrong {
    fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            difference: None,
        }
    }

    fn differs(message: String, difference: Difference) -> Self {
        Self {
            message,
            difference: Some(Box::new(difference)),
        }
    }

    /// Makes a difference at this place, which breaks this rule.
    fn at(place: &str, expected: &str, got: &str, rule: &str) -> Self {
        let message = format!("{place}: {got}, expected {expected}; {rule}");
        let difference = Difference {
            rule: Some(rule.to_owned()),
            ..Difference::in_data(place, expected, got)
        };
        Self::differs(message, difference)
    }

    fn is_in_events(&self) -> bool {
        let place = self.difference.as_ref().map(|it| it.place.as_str());
        let is_event =
            |place: &str| place.contains(": events[") || place.contains(": the number of ");
        place.is_some_and(is_event)
    }

    /// Returns the difference with the rule or field that it breaks.
    fn charged(&self, found: &rules::Found) -> Option<Difference> {
        let mut difference = self.difference.as_deref()?.clone();
        difference.rule = difference.rule.take().or_else(|| found.charge(&difference));
        Some(difference)
    }

    fn failed(self, found: &rules::Found) -> Outcome {
        let charged = self.charged(found);
        let mut message = self.message;
        let is_known = self.difference.is_some_and(|it| it.rule.is_some());
        let rule = charged.as_ref().and_then(|it| it.rule.as_deref());
        if let Some(rule) = rule.and_then(crate::rules::find).filter(|_| !is_known) {
            message = format!("{message}; {}: {}", rule.id, rule.rule);
        }
        Outcome::Failed {
            class: Failure::WrongFile,
            message,
            differences: charged.into_iter().collect(),
        }
    }
}
