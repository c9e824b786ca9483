//! `session.yaml` and `manifest.yaml`: the folders and the manifest around the thread files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::named::named;
use crate::yaml::{At, List};

/// `session.yaml`: the folders of a session.
#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionFile {
    /// The entries, outermost first.
    pub entries: List<EntrySpec>,
}

/// A folder or file of a session.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EntrySpec {
    /// Its path relative to the trace folder, with placeholders in angle brackets.
    pub path: At<String>,
    /// Whether a session without it is incomplete.
    pub required: bool,
    /// Its description.
    pub means: String,
    /// The sources that mention it.
    pub claims: List<At<String>>,
}

/// `manifest.yaml`: the objects of manifest.json.
#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ManifestFile {
    /// The file's name.
    pub file: String,
    /// Its description.
    pub means: String,
    /// Its objects; the first describes the whole file.
    pub objects: List<ManifestObject>,
}

/// A kind of JSON object.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ManifestObject {
    /// Its name.
    pub object: At<String>,
    /// Its description.
    pub means: String,
    /// Its fields.
    pub fields: List<ManifestField>,
}

/// A field of a JSON object.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ManifestField {
    /// Its key.
    pub name: At<String>,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: At<JsonType>,
    /// For lists and objects: the name of the object described in this file.
    pub of: Option<At<String>>,
    /// For integers: the enumeration that lists the values.
    #[serde(rename = "enum")]
    pub enumeration: Option<At<String>>,
    /// For hexadecimal numbers: the minimum number of digits that writers write.
    pub digits: Option<u8>,
    /// Whether a manifest without it is incomplete.
    #[serde(default)]
    pub required: bool,
    /// Its meaning.
    pub means: String,
}

named! {
    /// A type of JSON value.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
    pub enum JsonType {
        /// `true` or `false`.
        Boolean = "boolean",
        /// An integer from 0 to 255.
        U8 = "u8",
        /// An integer from 0 to 2³² − 1.
        U32 = "u32",
        /// An integer from 0 to 2⁶⁴ − 1.
        U64 = "u64",
        /// An integer from −2⁶³ to 2⁶³ − 1.
        I64 = "i64",
        /// An integer from 1 to 2³¹ − 1.
        PositiveI32 = "positive_i32",
        /// Text.
        Text = "text",
        /// Text of at least one character.
        Name = "name",
        /// Text: `0x` and up to 16 hexadecimal digits.
        Hex = "hex",
        /// An object described in this file.
        Object = "object",
        /// A list of objects described in this file.
        List = "list",
    }
}
