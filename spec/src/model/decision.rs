//! Decisions on disagreements.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::named::named;
use crate::yaml::{At, List};

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
