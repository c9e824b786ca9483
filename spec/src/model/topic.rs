//! `behaviour/*.yaml` and `decisions.yaml`: what the sources say beyond layouts, and what none
//! of them says.

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
    /// The stances that a source can take, each with what it means.
    pub terms: Pairs<String>,
    /// The sources that take a stance.
    pub claims: List<At<String>>,
    /// How their disagreement was settled.
    #[serde(default)]
    pub decisions: List<Decision>,
    /// What holds it besides the rules that name it in `settled_by`: tests, rows of the benchmarks
    /// and sections of documents, in the form of a [`Hold`](crate::holds::Hold).
    #[serde(default)]
    pub held_by: List<At<String>>,
    /// Why we do otherwise, if what the sources say here was decided against without a conflict.
    pub against: Option<String>,
    /// What of it is not done, and why.
    pub not_done: Option<String>,
}

/// `decisions.yaml`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DecisionsFile {
    /// What no source says.
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
    /// Why.
    pub reason: String,
    /// How sure we are.
    pub confidence: Confidence,
    /// What tests it: rule ids, or `PATH::TEST` of a test function in the repository.
    pub tested_by: List<At<String>>,
    /// Why no rule rests on it. A silence without this has rules that name it in `settled_by`.
    pub no_rule: Option<String>,
}
