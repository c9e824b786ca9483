//! How a disagreement was settled.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::yaml::{At, List};

/// How disagreements at one place were settled.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    /// What kind of decision it is.
    pub decision: At<DecisionKind>,
    /// The properties that it settles. At a field: `layout`, `value`, `none`, or another field's
    /// as `FIELD.layout`. At a record: `size`. At an enum: a member's name. At a topic: `term`.
    pub settles: List<At<String>>,
    /// At a topic: the term that holds.
    pub choice: Option<At<String>>,
    /// What was decided, one line.
    pub title: String,
    /// Why.
    pub reason: String,
    /// How sure we are.
    pub confidence: Confidence,
}

/// What kind of decision it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DecisionKind {
    /// Claims contradict one another or arithmetic; one holds, the others are overruled.
    Conflict,
    /// Each wire version has its own; both stand.
    Split,
}

/// How sure we are of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// Files of real tracers, or arithmetic, leave no other way.
    Certain,
    /// Several sources and the use of the format speak for it.
    High,
    /// The better of two defensible ways.
    Medium,
}

impl DecisionKind {
    /// Its word in the YAML files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Conflict => "conflict",
            Self::Split => "split",
        }
    }
}

impl Confidence {
    /// Its word in the YAML files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Certain => "certain",
            Self::High => "high",
            Self::Medium => "medium",
        }
    }
}
