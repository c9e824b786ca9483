//! `editions.yaml`: the versions of what implementations are graded by.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::yaml::{At, List};

/// `editions.yaml`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditionsFile {
    /// The spec's, the rules' and the corpus's edition, in this order.
    pub editions: List<EditionSpec>,
}

/// The version of one thing.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditionSpec {
    /// What it is of.
    pub of: At<EditionOf>,
    /// Major, minor and patch number.
    pub version: At<String>,
    /// SHA-256, in hexadecimal, of what the version stands for.
    pub digest: String,
}

/// What has an edition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EditionOf {
    /// The YAML files of the spec, but those of the rules.
    Spec,
    /// The YAML files of the rules.
    Rules,
    /// Cases, their flags, and scripts.
    Corpus,
}

impl EditionOf {
    /// All, in the file's order.
    pub const ALL: [Self; 3] = [Self::Spec, Self::Rules, Self::Corpus];

    /// Its word in the YAML file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Spec => "spec",
            Self::Rules => "rules",
            Self::Corpus => "corpus",
        }
    }
}
