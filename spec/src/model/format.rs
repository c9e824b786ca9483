//! `format.yaml`: the format's name, wire versions and records.

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
