//! The reasons why a verdict is wrong.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Serialize, Serializer};

use crate::Verdict;
use crate::named::named;
use crate::rules::Sentence;

/// The wrong verdicts, each with its reasons.
pub type Because = BTreeMap<Verdict, Vec<Reason>>;

/// Why a verdict is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// A sentence of a source excludes the verdict, whatever the answer contains.
    Sentence(Sentence),
    /// The verdict comes with wrong data. An answer without this harm is correct.
    Harm(Harm),
}

/// The harm to an answer's data that a wrong verdict causes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Harm {
    /// The kind of harm.
    pub effect: Effect,
    /// The events that it affects, such as `events[0..6]`.
    pub place: String,
    /// The explanation; empty if the effect needs none.
    pub why: String,
}

named! {
    /// The kind of harm.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
    pub enum Effect {
        /// Events are missing from the answer.
        Lost = "lost",
        /// The answer has events that were never traced.
        Phantom = "phantom",
    }
}

impl Reason {
    pub(super) const fn harm(effect: Effect, place: String, why: String) -> Self {
        Self::Harm(Harm { effect, place, why })
    }

    /// Returns whether a sentence excludes the verdict.
    #[must_use]
    pub const fn is_sentence(&self) -> bool {
        matches!(self, Self::Sentence(_))
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sentence(said) => write!(f, "{}: {}", said.lines, said.says),
            Self::Harm(Harm { effect, place, why }) => {
                write!(f, "{}: {place}", effect.name())?;
                if why.is_empty() {
                    Ok(())
                } else {
                    write!(f, ". {why}")
                }
            }
        }
    }
}

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
