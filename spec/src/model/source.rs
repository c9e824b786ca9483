//! `sources/*.yaml`: the claims of a source document, as stated.

use schemars::JsonSchema;
use serde::Deserialize;

use super::text::{DocumentText, Lines};
use crate::layout::{Type, Value, Wire};
use crate::yaml::{At, List, Pairs};

/// The claims of one source document.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourceFile {
    /// The source's id: `S0` to `S4`, or `FIELD` for observations of files in the field.
    pub source: At<String>,
    /// The document's own title.
    pub title: String,
    /// The document's path in the tracer's documentation.
    pub document: String,
    /// The document's purpose and scope, one sentence.
    pub about: String,
    /// The wire version that it describes: its value for the header's version byte.
    pub wire: At<Wire>,
    /// Its text, if it is a document. Each of its lines belongs to a claim or to `silent`.
    pub text: Option<DocumentText>,
    /// Its descriptions of records. A document may describe a record more than once.
    #[serde(default)]
    pub records: List<RecordClaim>,
    /// Its sketches of whole files: the sections in order.
    #[serde(default)]
    pub files: List<FileClaim>,
    /// The constants that it defines.
    #[serde(default)]
    pub constants: List<ConstantClaim>,
    /// Its statements beyond layouts, each on a topic of `behaviour/*.yaml`.
    #[serde(default)]
    pub statements: List<Statement>,
}

/// The form of a source's description.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// A packed C struct: types determine offsets, and the sum of sizes is a separate claim.
    Struct,
    /// A table with the offset and size of every field.
    Table,
    /// A table or prose that defines some of the fields.
    Definitions,
}

/// One description of a record.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordClaim {
    /// The record's name in the spec.
    pub record: At<String>,
    /// The record's name in the source, if any.
    pub name: Option<String>,
    /// Its section in the document: the path of headings, separated by ` > `.
    #[serde(rename = "where")]
    pub place: String,
    /// The document's lines that make the claim; several claims may share lines.
    pub lines: Option<At<Lines>>,
    /// The form of the description.
    pub form: Form,
    /// The size in bytes stated in a heading or the text.
    pub stated_size: Option<At<u32>>,
    /// The size in bytes that the source's code asserts.
    pub asserted_size: Option<At<u32>>,
    /// The fields in the source's order.
    pub fields: List<FieldClaim>,
}

/// A source's claims about a field.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FieldClaim {
    /// The field's name in the source.
    pub field: At<String>,
    /// The field's name in the spec, if different.
    pub is: Option<At<String>>,
    /// Bytes from the start of the record, if stated.
    pub offset: Option<At<u32>>,
    /// Its type, if stated.
    #[serde(rename = "type")]
    #[schemars(with = "Option<String>")]
    pub ty: Option<At<Type>>,
    /// Its size in bytes, if stated.
    pub size: Option<At<u32>>,
    /// Its only valid value, if stated.
    #[schemars(with = "Option<crate::schema::NumberOrText>")]
    pub value: Option<At<Value>>,
    /// The value that means "none".
    pub none: Option<At<u64>>,
    /// The values that the source lists for it, by member name in the spec.
    #[serde(default)]
    pub members: Pairs<At<u64>>,
    /// Whether the source calls its list incomplete ("etc.").
    #[serde(default)]
    pub open: bool,
    /// The source's stances on topics of `behaviour/*.yaml`: topic to term.
    #[serde(default)]
    pub facts: Pairs<At<String>>,
    /// The source's description of the field, in our words.
    pub says: Option<String>,
}

impl FieldClaim {
    /// Returns the field's name in the spec.
    #[must_use]
    pub fn name(&self) -> &At<String> {
        self.is.as_ref().unwrap_or(&self.field)
    }
}

/// A sketch of a whole file.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileClaim {
    /// The file's name.
    pub file: At<String>,
    /// The sketch's section in the document.
    #[serde(rename = "where")]
    pub place: String,
    /// The document's lines that make the claim; several claims may share lines.
    pub lines: Option<At<Lines>>,
    /// The sections in the sketch's order.
    pub sections: List<SectionClaim>,
}

/// A section of a file.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SectionClaim {
    /// `header`, `events` or `footer`.
    pub section: At<String>,
    /// Its size in bytes, if stated.
    pub size: Option<At<u32>>,
    /// The sketch's description of it, in our words.
    pub says: Option<String>,
}

/// A constant that a source defines.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConstantClaim {
    /// Its name.
    pub constant: At<String>,
    /// Its value.
    pub value: At<u64>,
    /// Its section in the document.
    #[serde(rename = "where")]
    pub place: String,
    /// The document's lines that make the claim; several claims may share lines.
    pub lines: Option<At<Lines>>,
}

/// A source's statement on a topic.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// A topic of `behaviour/*.yaml`.
    pub topic: At<String>,
    /// The source's stance: one of the topic's terms.
    pub term: Option<At<String>>,
    /// Instead of a term, the source's formula for the offset of event `seq`: `seq * 32` or
    /// `events_offset + seq * 32`. The corresponding term is the offset that the formula yields for
    /// event 0.
    pub formula: Option<At<String>>,
    /// Its section in the document.
    #[serde(rename = "where")]
    pub place: String,
    /// The document's lines that make the claim; several claims may share lines.
    pub lines: Option<At<Lines>>,
    /// The statement, in our words.
    pub says: String,
}
