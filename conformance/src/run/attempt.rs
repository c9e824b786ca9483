//! The result of running a case once.

use std::time::Duration;

use super::Graded;
use crate::protocol::{Answer, differences};
use crate::results::{Note, Outcome, UNSTABLE};

pub(super) struct Attempt {
    pub(super) graded: Graded,
    pub(super) elapsed: Duration,
    pub(super) stderr: String,
    /// A reader's or validator's exit code and output.
    pub(super) answer: Option<(i32, Vec<u8>)>,
}

impl Attempt {
    pub(super) fn skipped(why: String) -> Self {
        Self {
            graded: Outcome::Skipped { why }.into(),
            elapsed: Duration::ZERO,
            stderr: String::new(),
            answer: None,
        }
    }

    pub(super) fn has_failed(&self) -> bool {
        matches!(self.graded.outcome, Outcome::Failed { .. })
    }

    /// Returns whether another run of the same case has the same result.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        match (&self.graded.outcome, &other.graded.outcome) {
            // Messages on missing answers contain measured times and sizes.
            (Outcome::Failed { class: one, .. }, Outcome::Failed { class: other, .. })
                if one.is_broken() =>
            {
                one == other
            }
            (one, other) if one != other => false,
            _ => self.answer == other.answer || self.has_same_document(other),
        }
    }

    /// Returns whether two answers are equal as documents.
    fn has_same_document(&self, other: &Self) -> bool {
        let document = |run: &Self| {
            let (code, output) = run.answer.as_ref()?;
            Answer::parse(*code, output).ok()
        };
        match (document(self), document(other)) {
            (Some(Answer::Document(one, own)), Some(Answer::Document(other, others))) => {
                one == other && differences(&own, &others, &[]).is_empty()
            }
            (one, other) => one == other,
        }
    }

    /// Adds a note that the results of a case differ.
    pub(super) fn differs(&mut self, text: &str) {
        let note = Note::advice(format!("{UNSTABLE}{text}"));
        self.graded.notes.push(note);
    }

    pub(super) fn describe(&self) -> String {
        match &self.graded.outcome {
            Outcome::Passed => "passes".to_owned(),
            Outcome::Skipped { .. } => "skips the case".to_owned(),
            Outcome::Failed { class, message, .. } => {
                format!("fails ({}: {message})", class.name())
            }
        }
    }
}
