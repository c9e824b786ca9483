//! `grammar/*.yaml`: how a reader finds the events and the footer of a file.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::grammar::{Derivation, Kind};
use crate::layout::Wire;
use crate::yaml::{At, List, Pairs};

/// The grammar of a kind of file. Its expressions are written in Rust's syntax; see the crate's
/// module `grammar`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GrammarFile {
    /// The file's name.
    pub file: At<String>,
    /// The description, one paragraph.
    pub means: String,
    /// The file's records by their roles.
    pub records: Pairs<At<String>>,
    /// The steps of reading a file, in order.
    pub reading: List<StepSpec>,
    /// The functions, in any order; none may call itself through others.
    pub functions: List<FunctionSpec>,
    /// The fields that state something about the events, which a writer sets when it finalizes the
    /// file.
    #[serde(default)]
    pub derived: List<DerivedSpec>,
}

/// A field that states something about the events.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DerivedSpec {
    /// The field, as `role.field`.
    pub field: At<String>,
    /// The statement.
    pub is: Derivation,
}

/// A step of reading: a requirement, or a value that is computed once.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepSpec {
    /// For a requirement: the condition.
    pub requires: Option<At<String>>,
    /// The only wire version with the requirement.
    pub wire: Option<At<Wire>>,
    /// The offset of the invalid record, unless it is the header.
    pub at: Option<At<String>>,
    /// The invalid field if the requirement is not met, as `role.field`.
    pub field: Option<At<String>>,
    /// What was expected there.
    pub expected: Option<String>,
    /// The rule that a file breaks if it does not meet the requirement.
    pub rule: Option<At<String>>,
    /// For a value: its name.
    pub value: Option<At<String>>,
    /// Its meaning.
    #[serde(default)]
    pub means: String,
    /// Its expression.
    pub is: Option<At<String>>,
}

/// A function.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FunctionSpec {
    /// Its name.
    pub name: At<String>,
    /// The types of its parameters by their names.
    #[serde(default)]
    pub takes: Pairs<Kind>,
    /// The meaning of the result.
    pub means: String,
    /// The expression, with `let` statements before it.
    pub is: At<String>,
    /// The rules that it implements.
    #[serde(default)]
    pub rules: List<At<String>>,
}
