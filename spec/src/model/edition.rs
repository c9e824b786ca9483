//! `editions.yaml`: the versions of what implementations are graded by.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::yaml::At;

/// `editions.yaml`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditionsFile {
    /// Of the YAML files of the spec, but those of the rules.
    pub spec: EditionSpec,
    /// Of the YAML files of the rules.
    pub rules: EditionSpec,
    /// Of cases, their flags, and scripts.
    pub corpus: EditionSpec,
}

/// The version of one thing.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditionSpec {
    /// Major, minor and patch number.
    pub version: At<String>,
    /// SHA-256, in hexadecimal, of what the version stands for.
    pub digest: String,
}

impl EditionsFile {
    /// Each with what it is of, its key in the file.
    #[must_use]
    pub fn all(&self) -> [(&'static str, &EditionSpec); 3] {
        let Self {
            spec,
            rules,
            corpus,
        } = self;
        [("spec", spec), ("rules", rules), ("corpus", corpus)]
    }
}
