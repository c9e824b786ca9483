//! `format.yaml`: the format's name, its wire versions, its records in their order.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::yaml::{At, List, Pairs};

/// `format.yaml`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FormatFile {
    /// The format's name.
    pub format: String,
    /// What it is, one paragraph.
    pub means: String,
    /// The wire versions, ascending, each with who describes it.
    pub wires: Pairs<String>,
    /// The sources in the order in which they are cited; others come behind them by file name.
    #[serde(default)]
    pub sources: List<At<String>>,
    /// The records, index file first, in the order in which they stand in a file. Each has a file
    /// of its name in `records/`.
    pub records: List<At<String>>,
}
