//! `format.yaml`: the format's name, wire versions and records; `editions.yaml`: the versions of
//! the spec, rules and corpus that implementations are graded against.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::yaml::{At, List, Pairs};

/// `format.yaml`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FormatFile {
    /// The format's name.
    pub format: String,
    /// Its description, one paragraph.
    pub means: String,
    /// The wire versions, ascending, each with the sources that describe it.
    pub wires: Pairs<String>,
    /// The sources in citation order; any others follow in order of file name.
    #[serde(default)]
    pub sources: List<At<String>>,
    /// The records, index file first, in file order. Each has a file of the same name in
    /// `records/`.
    pub records: List<At<String>>,
}

/// `editions.yaml`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditionsFile {
    /// The spec's YAML files, except the rules.
    pub spec: EditionSpec,
    /// The rules' YAML files.
    pub rules: EditionSpec,
    /// Test cases, their flags, and scripts.
    pub corpus: EditionSpec,
}

/// A version.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditionSpec {
    /// Major, minor and patch number.
    pub version: At<String>,
    /// SHA-256 of the versioned content, in hexadecimal.
    pub digest: String,
}

impl EditionsFile {
    /// Returns each edition with its key in the file.
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
