//! `behaviour/*.yaml` and `decisions.yaml`: the sources' statements about anything but layouts,
//! questions that no source answers, and decisions, which records and enumerations have too.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::named::named;
use crate::yaml::{At, List, Pairs};

/// A file of `behaviour/`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TopicsFile {
    /// The topics.
    pub topics: List<Topic>,
}

/// A question on which sources take a stance.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Topic {
    /// Its name: `checksum.algorithm`.
    pub topic: At<String>,
    /// The question.
    pub question: String,
    /// The records, fields and enums that it is about.
    #[serde(default)]
    pub about: List<At<String>>,
    /// The possible stances, each with its meaning.
    pub terms: Pairs<String>,
    /// The sources that take a stance.
    pub claims: List<At<String>>,
    /// Decisions on their disagreement.
    #[serde(default)]
    pub decisions: List<Decision>,
    /// Tests, benchmarks and sections of documents that verify it, in the form of a
    /// [`Hold`](crate::holds::Hold), in addition to the rules that cite it in `settled_by`.
    #[serde(default)]
    pub held_by: List<At<String>>,
    /// Why this project deviates, if it does so without a conflict among the sources.
    pub against: Option<String>,
    /// The parts that are not implemented, and why.
    pub not_done: Option<String>,
}

impl Topic {
    /// Returns the terms that decisions chose.
    pub fn choices(&self) -> impl Iterator<Item = &At<String>> {
        self.decisions.iter().filter_map(|it| it.choice.as_ref())
    }
}

/// `decisions.yaml`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DecisionsFile {
    /// Questions that no source answers.
    pub silences: List<Silence>,
}

/// A question that no source answers, and our answer.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Silence {
    /// Its name.
    pub silence: At<String>,
    /// The question.
    pub question: String,
    /// The records, fields and enums that it is about.
    #[serde(default)]
    pub about: List<At<String>>,
    /// Our answer.
    pub decision: String,
    /// The reason.
    pub reason: String,
    /// How sure we are.
    pub confidence: Confidence,
    /// Its tests: rule ids, or `PATH::TEST` for a test function in the repository.
    pub tested_by: List<At<String>>,
    /// Why no rule cites it. If this is omitted, a rule must cite the silence in `settled_by`.
    pub no_rule: Option<String>,
}

/// A decision that settles disagreements.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    /// The kind of decision.
    pub decision: At<DecisionKind>,
    /// The properties that it settles. For a field: `layout`, `value`, `none`, or `FIELD.layout`
    /// for another field. For a record: `size`. For an enum: a member's name. For a topic: `term`.
    pub settles: List<At<String>>,
    /// For a topic: the chosen term.
    pub choice: Option<At<String>>,
    /// The decision, one line.
    pub title: String,
    /// The reason.
    pub reason: String,
    /// The confidence in the decision.
    pub confidence: Confidence,
}

named! {
    /// The kind of decision.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
    pub enum DecisionKind {
        /// Claims contradict each other or do not add up; one is chosen, the others are overruled.
        Conflict = "conflict",
        /// Each wire version keeps its own value.
        Split = "split",
    }
}

named! {
    /// Confidence in a decision.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
    pub enum Confidence {
        /// Real files or arithmetic leave no alternative.
        Certain = "certain",
        /// Several sources and the use of the format support it.
        High = "high",
        /// The better of two defensible options.
        Medium = "medium",
    }
}
