//! The resolved layout: every record, field, enum and constant of both wire versions.
//!
//! The compiler builds the layout from the YAML files, and `atf-codegen` writes it as JSON.
//! Emitters, the macro, tests and other tools get offsets from it.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::grammar::Grammar;
use crate::named::named;

/// The committed resolved layout, for tools that look up fields by name at run time.
///
/// ```
/// let layout: atf_spec::layout::Layout = serde_json::from_str(atf_spec::layout::JSON).expect("a layout");
/// assert_eq!(layout.record("index_event").map(|record| record.size), Some(32));
/// ```
pub const JSON: &str = include_str!("../layout.json");

/// The JSON Schema of manifest.json.
pub const MANIFEST_SCHEMA: &str = include_str!("../schema/manifest.schema.json");

/// A wire version: the value of byte 5 of the header.
pub type Wire = u8;

/// Everything that an emitter needs to know about the format.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "compiler", derive(schemars::JsonSchema))]
pub struct Layout {
    /// The wire versions, ascending.
    pub wires: Vec<Wire>,
    /// The source documents, in citation order.
    pub sources: Vec<SourceDocument>,
    /// Named constants, in the order of the spec.
    pub constants: Vec<Constant>,
    /// Open enumerations and sets of flags, in the order of the spec.
    pub enums: Vec<Enum>,
    /// The records, index file first, in file order.
    pub records: Vec<Record>,
    /// How a reader finds the events and the footer of each kind of file.
    #[serde(default)]
    pub grammars: Vec<Grammar>,
    /// The YAML files that the layout was built from, each with its
    /// [`fingerprint`](crate::freshness::fingerprint). A build in a checkout uses them to detect a
    /// layout that is older than its spec.
    #[serde(default)]
    pub inputs: BTreeMap<String, String>,
}

/// A document that describes the format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "compiler", derive(schemars::JsonSchema))]
pub struct SourceDocument {
    /// The document's id: `S0` to `S4`, or `FIELD` for observations of files in the field.
    pub id: String,
    /// The document's own title.
    pub title: String,
    /// The wire version that the document describes.
    pub wire: Wire,
}

/// A named constant whose value may differ by wire version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "compiler", derive(schemars::JsonSchema))]
pub struct Constant {
    /// The name in C, such as `ATF_NO_DETAIL_SEQ`.
    pub name: String,
    /// The meaning, one sentence.
    pub doc: String,
    /// The sources that claim the constant.
    pub sources: Vec<String>,
    /// The type and value in each wire version.
    pub values: Vec<ConstantValue>,
}

/// The value of a constant in one wire version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "compiler", derive(schemars::JsonSchema))]
pub struct ConstantValue {
    /// The wire version.
    pub wire: Wire,
    /// The type.
    #[serde(rename = "type")]
    pub scalar: Scalar,
    /// The value.
    pub value: u64,
}

/// An enumeration or a set of flags. Both are open, so other values may occur.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "compiler", derive(schemars::JsonSchema))]
pub struct Enum {
    /// The name in the spec, such as `event_kind`.
    pub name: String,
    /// The prefix of the members' names in C, such as `ATF_EVENT_KIND`.
    pub c_prefix: String,
    /// The meaning, one sentence.
    pub doc: String,
    /// Whether each member is one bit and members combine.
    pub flags: bool,
    /// The members, ascending.
    pub members: Vec<Member>,
}

/// One member of an enumeration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "compiler", derive(schemars::JsonSchema))]
pub struct Member {
    /// The name in the spec, in lower case, such as `mach_continuous`.
    pub name: String,
    /// The value. For flags, this is the mask.
    pub value: u64,
    /// For a kind of event: its effect on the thread's open calls, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<CallEffect>,
    /// The meaning, one sentence.
    pub doc: String,
    /// The sources that claim the member.
    pub sources: Vec<String>,
}

/// The effect of an event on the open calls of its thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "compiler", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CallEffect {
    /// The event opens a call.
    Opens,
    /// The event ends a call, which returned.
    Returns,
    /// The event ends a call, which an exception left.
    Throws,
}

/// A record: a struct of fixed size in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "compiler", derive(schemars::JsonSchema))]
pub struct Record {
    /// The name in the spec, such as `index_header`.
    pub name: String,
    /// The name in C as the sources spell it, such as `AtfIndexHeader`.
    pub c_name: String,
    /// The name in prose, such as `Index header`.
    pub title: String,
    /// The file that contains the record: `index.atf` or `detail.atf`.
    pub file: String,
    /// The description, one paragraph.
    pub doc: String,
    /// The size in bytes, the same in every wire version.
    pub size: u32,
    /// The variable-size data that follows the record, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub followed_by: Option<String>,
    /// The layouts, one for each wire version in ascending order.
    pub layouts: Vec<RecordLayout>,
}

/// The fields of a record in one wire version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "compiler", derive(schemars::JsonSchema))]
pub struct RecordLayout {
    /// The wire version.
    pub wire: Wire,
    /// The fields by ascending offset, without gaps or overlaps.
    pub fields: Vec<Field>,
}

/// A field of a record in one wire version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "compiler", derive(schemars::JsonSchema))]
pub struct Field {
    /// The name, as the sources of the wire version spell it.
    pub name: String,
    /// The name in the spec, if it differs. This is the name in the other wire versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known_as: Option<String>,
    /// Bytes from the start of the record.
    pub offset: u32,
    /// The type.
    #[serde(rename = "type")]
    pub ty: Type,
    /// The meaning.
    pub doc: String,
    /// The unit of the value: `ns`, `bytes` or `events`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub units: Option<String>,
    /// Constraints on the value, as one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<String>,
    /// Whether the field has no meaning. Such a field is written as 0 and ignored when read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reserved: bool,
    /// The enumeration or set of flags that the value belongs to.
    #[serde(default, rename = "enum", skip_serializing_if = "Option::is_none")]
    pub enumeration: Option<String>,
    /// The only valid value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// The maximum value, if less than the maximum of its type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<u64>,
    /// The value that means "none".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub none: Option<u64>,
    /// The sources that claim the field; empty if no source does.
    pub sources: Vec<String>,
}

/// A fixed value: bytes as text, or a number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "compiler", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Value {
    /// A number.
    Number(u64),
    /// ASCII bytes, for an array of `u8`.
    Text(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => write!(f, "\"{text}\""),
        }
    }
}

named! {
    /// An unsigned little-endian integer.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[cfg_attr(feature = "compiler", derive(schemars::JsonSchema))]
    pub enum Scalar {
        /// 8 bits.
        U8 = "u8",
        /// 16 bits.
        U16 = "u16",
        /// 32 bits.
        U32 = "u32",
        /// 64 bits.
        U64 = "u64",
    }
}

impl Scalar {
    /// Returns the size in bytes.
    #[must_use]
    pub const fn size(self) -> u32 {
        match self {
            Self::U8 => 1,
            Self::U16 => 2,
            Self::U32 => 4,
            Self::U64 => 8,
        }
    }

    /// Returns the largest value.
    #[must_use]
    pub const fn max(self) -> u64 {
        u64::MAX >> (64 - 8 * self.size())
    }
}

/// The type of a field: a scalar or an array of scalars, written `u32` or `u8[4]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Type {
    /// The scalar, or an array's element.
    pub scalar: Scalar,
    /// The number of elements, for an array.
    pub count: Option<u32>,
}

impl Type {
    /// Returns the size in bytes.
    #[must_use]
    pub const fn size(self) -> u32 {
        match self.count {
            Some(count) => self.scalar.size().saturating_mul(count),
            None => self.scalar.size(),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.scalar.name())?;
        match self.count {
            Some(count) => write!(f, "[{count}]"),
            None => Ok(()),
        }
    }
}

impl FromStr for Type {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, count) = match text.strip_suffix(']').and_then(|t| t.split_once('[')) {
            Some((name, count)) => (name, Some(count)),
            None => (text, None),
        };
        let mut scalars = Scalar::ALL.iter();
        let scalar = *scalars
            .find(|scalar| scalar.name() == name)
            .ok_or_else(|| {
                format!(
                    "`{text}` is not a type: expected u8, u16, u32, u64, or an array such as u8[4]"
                )
            })?;
        let count = match count.map(str::parse::<u32>) {
            None => None,
            Some(Ok(count @ 1..=65536)) => Some(count),
            Some(_) => return Err(format!("`{text}`: an array has 1 to 65536 elements")),
        };
        Ok(Self { scalar, count })
    }
}

impl Serialize for Type {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "compiler")]
impl schemars::JsonSchema for Type {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Type".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": r"^u(8|16|32|64)(\[[0-9]+\])?$" })
    }
}

impl<'de> Deserialize<'de> for Type {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl Layout {
    /// Returns the record with this name.
    #[must_use]
    pub fn record(&self, name: &str) -> Option<&Record> {
        self.records.iter().find(|record| record.name == name)
    }

    /// Returns the enumeration with this name.
    #[must_use]
    pub fn enumeration(&self, name: &str) -> Option<&Enum> {
        self.enums.iter().find(|it| it.name == name)
    }

    /// Returns the widest scalar of the fields that use an enumeration, or `u64` if no field uses
    /// it.
    #[must_use]
    pub fn scalar_of(&self, enumeration: &str) -> Scalar {
        let layouts = self.records.iter().flat_map(|record| &record.layouts);
        let fields = layouts.flat_map(|layout| &layout.fields);
        let users = fields.filter(|field| field.enumeration.as_deref() == Some(enumeration));
        let scalars = users.map(|field| field.ty.scalar);
        scalars.max().unwrap_or(Scalar::U64)
    }
}

impl Record {
    /// Returns the record's layout in a wire version.
    #[must_use]
    pub fn layout(&self, wire: Wire) -> Option<&RecordLayout> {
        self.layouts.iter().find(|layout| layout.wire == wire)
    }

    /// Returns the fields of all layouts. A field in more than one layout is returned once, as in
    /// the first one.
    #[must_use]
    pub fn fields(&self) -> Vec<&Field> {
        let mut fields: Vec<&Field> = Vec::new();
        for field in self.layouts.iter().flat_map(|layout| &layout.fields) {
            if fields.iter().all(|known| known.name != field.name) {
                fields.push(field);
            }
        }
        fields
    }

    /// Returns the name in Rust: the spec's name in camel case, such as `IndexHeader`.
    #[must_use]
    pub fn rust_name(&self) -> String {
        camel_case(&self.name)
    }

    /// Returns whether the layout is the same in all wire versions, except for fixed values such as
    /// `version`.
    #[must_use]
    pub fn is_same_in_every_wire(&self) -> bool {
        let shape = |layout: &RecordLayout| {
            let field = |f: &Field| (f.name.clone(), f.offset, f.ty, f.none);
            layout.fields.iter().map(field).collect::<Vec<_>>()
        };
        self.layouts
            .windows(2)
            .all(|pair| shape(&pair[0]) == shape(&pair[1]))
    }
}

impl RecordLayout {
    /// Returns the field with this name in the spec.
    #[must_use]
    pub fn field_known_as(&self, key: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.key() == key)
    }

    /// Returns the field with this name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

impl Field {
    /// Returns the name in the spec, which is the same in every wire version.
    #[must_use]
    pub fn key(&self) -> &str {
        self.known_as.as_deref().unwrap_or(&self.name)
    }

    /// Returns the offset of the first byte after the field.
    #[must_use]
    pub const fn end(&self) -> u32 {
        self.offset.saturating_add(self.ty.size())
    }
}

impl Enum {
    /// Returns the name in Rust: the spec's name in camel case, such as `EventKind`.
    #[must_use]
    pub fn rust_name(&self) -> String {
        camel_case(&self.name)
    }

    /// Returns a member's name in C, such as `ATF_CLOCK_MACH_CONTINUOUS`.
    #[must_use]
    pub fn c_name(&self, member: &Member) -> String {
        format!("{}_{}", self.c_prefix, member.name.to_ascii_uppercase())
    }
}

/// Converts a name in the spec to camel case, as used for types in Rust.
#[must_use]
pub fn camel_case(name: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        letters.next().map_or_else(String::new, |first| {
            first.to_ascii_uppercase().to_string() + letters.as_str()
        })
    };
    name.split('_').map(word).collect()
}
