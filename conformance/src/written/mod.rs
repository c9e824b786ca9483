//! What a writer wrote, graded: by the rules, against what the script asked for, byte for byte.
//!
//! Files are never judged by the library's reader alone: it could share a mistake with the
//! library's writer. Each byte is held against the tables that the corpus has typed by hand.

mod compare;
mod document;
mod expected;
mod folder;
mod full;
mod library;
mod rules;
mod settle;
mod sizes;

use std::path::Path;

pub use document::Documents;

use crate::corpus::layout::Record;
use crate::results::{Difference, Failure, Note, Outcome};
use crate::scripts::{Script, Scripted};

/// Both headers and both footers.
const END_SIZE: usize = Record::IndexHeader.size();
/// An event of `index.atf`.
const EVENT_SIZE: usize = Record::IndexEvent.size();
/// What an event of `detail.atf` has before its payload.
const DETAIL_SIZE: usize = Record::DetailEventHeader.size();

/// The verdict on what a writer wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graded {
    /// Passed or failed.
    pub outcome: Outcome,
    /// Broken SHOULDs, and what a kill took. They fail nothing.
    pub notes: Vec<Note>,
}

/// Grades what a writer made of a script in the folder `out`. `features` are those that it claims.
#[must_use]
pub fn grade(scripted: &Scripted, features: &[String], out: &Path) -> Graded {
    let sized = sizes::check(&scripted.script, out);
    if scripted.limit.is_some() && sized.is_ok() {
        return full::grade(scripted, out);
    }
    let settled = match sized.and_then(|()| settle::settle(&scripted.script, out)) {
        Ok(settled) => settled,
        Err(wrong) => {
            return Graded {
                outcome: wrong.failed(&rules::Found::default(), &scripted.script),
                notes: Vec::new(),
            };
        }
    };
    let script = &settled.script;
    let mut found = rules::Found::of(out);
    found.keep(|file| settled.begins(&scripted.script, file));
    let mut notes = found.notes(script);
    notes.extend(settled.lost);
    let compared = folder::compare(scripted, script, features, out);
    let outcome = match (found.broken_must(), compared) {
        (Some(broken), compared) => Outcome::Failed {
            class: Failure::Rule,
            message: broken.message.clone(),
            differences: vec![broken.difference(out, compared.err())],
        },
        (None, Err(wrong)) => wrong.failed(&found, script),
        (None, Ok(())) => match library::compare(script, out) {
            Ok(()) => Outcome::Passed,
            Err(wrong) => wrong.failed(&found, script),
        },
    };
    Graded { outcome, notes }
}

/// What is there of a script that a kill or a close ended, as a script that asks for it.
#[must_use]
pub fn settled(script: &Script, out: &Path) -> Script {
    match settle::settle(script, out) {
        Ok(settled) => settled.script,
        Err(_) => script.clone(),
    }
}

/// What is not as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Wrong {
    message: String,
    difference: Option<Box<Difference>>,
}

impl Wrong {
    fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            difference: None,
        }
    }

    fn failed(mut self, found: &rules::Found, script: &Script) -> Outcome {
        if let Some(difference) = &mut self.difference
            && let Some(rule) = found.rule_of(difference, script)
        {
            difference.rule = Some(rule.id.to_owned());
            self.message = format!("{}; {}: {}", self.message, rule.id, rule.rule);
        }
        Outcome::Failed {
            class: Failure::WrongFile,
            message: self.message,
            differences: self.difference.map(|one| *one).into_iter().collect(),
        }
    }
}
