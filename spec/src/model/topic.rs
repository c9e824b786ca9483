//! `behaviour/*.yaml` and `decisions.yaml`: the sources' statements about anything but layouts, and
//! questions that no source answers.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Confidence, Decision};
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
