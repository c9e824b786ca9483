//! `sources/*.yaml`: what a source document claims, as it claims it.

use schemars::JsonSchema;
use serde::Deserialize;

use super::text::{DocumentText, Lines};
use crate::layout::{Type, Value, Wire};
use crate::yaml::{At, List, Pairs};

/// What one source document claims.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourceFile {
    /// The source's id: `S0` to `S4`, or `FIELD` for what files in the field show.
    pub source: At<String>,
    /// What the document calls itself.
    pub title: String,
    /// Where the document came from: its path in the tracer's documentation.
    pub document: String,
    /// What the document is and covers, one sentence.
    pub about: String,
    /// The wire version that it describes: the value it gives for the header's version byte.
    pub wire: At<Wire>,
    /// Its text, if it is a document. Each of its lines belongs to a claim or to `silent`.
    pub text: Option<DocumentText>,
    /// Its descriptions of records. One document may describe a record more than once.
    #[serde(default)]
    pub records: List<RecordClaim>,
    /// Its sketches of whole files: the sections in their order.
    #[serde(default)]
    pub files: List<FileClaim>,
    /// The constants that it names.
    #[serde(default)]
    pub constants: List<ConstantClaim>,
    /// What it says beyond layouts, each under a topic of `behaviour/*.yaml`.
    #[serde(default)]
    pub statements: List<Statement>,
}

/// How a source describes a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// A packed C struct: the fields stand one behind the other, so types give offsets, and the
    /// sum of their sizes is a claim of its own.
    Struct,
    /// A table with offset and size of every field.
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
    /// The record's name in the source, where it has one.
    pub name: Option<String>,
    /// Where it stands in the document: the headings down to it, with ` > ` between them.
    #[serde(rename = "where")]
    pub place: String,
    /// The document's lines that make the claim; claims may share them.
    pub lines: Option<At<Lines>>,
    /// How the source describes it.
    pub form: Form,
    /// The size that a heading or the text states, in bytes.
    pub stated_size: Option<At<u32>>,
    /// The size that an assert in the source's code checks, in bytes.
    pub asserted_size: Option<At<u32>>,
    /// The fields in the source's order.
    pub fields: List<FieldClaim>,
}

/// What a source says of a field.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FieldClaim {
    /// The field's name in the source.
    pub field: At<String>,
    /// The field's name in the spec, where that is another one.
    pub is: Option<At<String>>,
    /// Bytes from the start of the record, where the source says it.
    pub offset: Option<At<u32>>,
    /// Its type, where the source says it.
    #[serde(rename = "type")]
    #[schemars(with = "Option<String>")]
    pub ty: Option<At<Type>>,
    /// Its size in bytes, where the source says it.
    pub size: Option<At<u32>>,
    /// The one value that the source gives it.
    #[schemars(with = "Option<crate::schema::NumberOrText>")]
    pub value: Option<At<Value>>,
    /// The value that means "none".
    pub none: Option<At<u64>>,
    /// The values that the source lists for it, by the spec's names of the members.
    #[serde(default)]
    pub members: Pairs<At<u64>>,
    /// Whether the source says that its list is not complete ("etc.").
    #[serde(default)]
    pub open: bool,
    /// What the source says here on topics of `behaviour/*.yaml`: topic to term.
    #[serde(default)]
    pub facts: Pairs<At<String>>,
    /// What the source says of the field, in our words.
    pub says: Option<String>,
}

/// A sketch of a whole file.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileClaim {
    /// The file's name.
    pub file: At<String>,
    /// Where the sketch stands in the document.
    #[serde(rename = "where")]
    pub place: String,
    /// The document's lines that make the claim; claims may share them.
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
    /// Its size in bytes, where the sketch says it.
    pub size: Option<At<u32>>,
    /// What the sketch says of it, in our words.
    pub says: Option<String>,
}

/// A constant that a source names.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConstantClaim {
    /// Its name.
    pub constant: At<String>,
    /// Its value.
    pub value: At<u64>,
    /// Where it stands in the document.
    #[serde(rename = "where")]
    pub place: String,
    /// The document's lines that make the claim; claims may share them.
    pub lines: Option<At<Lines>>,
}

/// What a source says on a topic.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// The topic, of `behaviour/*.yaml`.
    pub topic: At<String>,
    /// The source's stance: one of the topic's terms.
    pub term: Option<At<String>>,
    /// Instead of a term, the source's formula for the offset of event `seq`: `seq * 32` or
    /// `events_offset + seq * 32`. Its term is where event 0 stands by it.
    pub formula: Option<At<String>>,
    /// Where it stands in the document.
    #[serde(rename = "where")]
    pub place: String,
    /// The document's lines that make the claim; claims may share them.
    pub lines: Option<At<Lines>>,
    /// What the source says, in our words.
    pub says: String,
}
