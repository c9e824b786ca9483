//! A YAML file as a tree in which every key and value knows its place.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Location, Spanned};

use crate::diagnostic::Diagnostic;

/// Which of the loaded files a place is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct FileId(pub u32);

/// A range of bytes in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Place {
    /// The file.
    pub file: FileId,
    /// The first byte's offset.
    pub start: u32,
    /// The offset behind the last byte.
    pub end: u32,
}

/// A value and its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Where it stands.
    pub place: Place,
}

/// A YAML value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `null`, `~` or nothing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer.
    Int(i128),
    /// Anything else in one piece.
    Text(String),
    /// A sequence.
    Seq(Vec<Node>),
    /// A mapping, in the file's order. Keys are text whatever they look like.
    Map(Vec<(Key, Node)>),
}

impl Value {
    /// What the value is, for messages.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool(_) => "a boolean",
            Self::Int(_) => "an integer",
            Self::Text(_) => "text",
            Self::Seq(_) => "a sequence",
            Self::Map(_) => "a mapping",
        }
    }
}

/// A mapping's key and its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Key {
    /// The key's text.
    pub text: String,
    /// Where it stands.
    pub place: Place,
}

/// A parsed file.
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    /// The root of its one document.
    pub root: Node,
}

impl Tree {
    /// Parses a file's bytes.
    ///
    /// # Errors
    ///
    /// Bytes that are not UTF-8, broken syntax, a duplicate key, an anchor or alias, more than one
    /// document, or more nodes than the parser's budget allows: one diagnostic at its place.
    pub fn parse(file: FileId, bytes: &[u8]) -> Result<Self, Diagnostic> {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let start = as_offset(error.valid_up_to());
            let place = Place {
                file,
                start,
                end: start,
            };
            Diagnostic::error(place, "the file is not UTF-8")
                .label(format!("byte 0x{:02x}", bytes[error.valid_up_to()]))
        })?;
        let raw: Raw =
            serde_saphyr::from_str(text).map_err(|error| parse_error(file, text, &error))?;
        let root = raw.into_node(file, text)?;
        Ok(Self { root })
    }

    /// The YAML path of a place, such as `fields[3].wire.1.offset`: the path of the deepest node
    /// or key there.
    #[must_use]
    pub fn path_of(&self, place: Place) -> String {
        let mut path = String::new();
        find(&self.root, place, &mut path);
        path
    }
}

fn find(node: &Node, place: Place, path: &mut String) -> bool {
    let before = path.len();
    match &node.value {
        Value::Seq(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push_str(&format!("[{index}]"));
                if find(item, place, path) {
                    return true;
                }
                path.truncate(before);
            }
        }
        Value::Map(entries) => {
            for (key, value) in entries {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(&key.text);
                if key.place == place || find(value, place, path) {
                    return true;
                }
                path.truncate(before);
            }
        }
        _ => {}
    }
    node.place == place
}

/// The parser's view of a file, before places are turned into byte ranges.
struct Raw(Spanned<RawValue>);

enum RawValue {
    Null,
    Bool(bool),
    Int(i128),
    Text(String),
    Seq(Vec<Raw>),
    Map(Vec<(Spanned<String>, Raw)>),
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Spanned::deserialize(deserializer).map(Self)
    }
}

impl<'de> Deserialize<'de> for RawValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = RawValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<RawValue, E> {
        Ok(RawValue::Null)
    }

    fn visit_none<E>(self) -> Result<RawValue, E> {
        Ok(RawValue::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<RawValue, E> {
        Ok(RawValue::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<RawValue, E> {
        Ok(RawValue::Int(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<RawValue, E> {
        Ok(RawValue::Int(value.into()))
    }

    // The spec has no use for fractions: one is text, and its type is refused where it stands.
    fn visit_f64<E>(self, value: f64) -> Result<RawValue, E> {
        Ok(RawValue::Text(value.to_string()))
    }

    fn visit_str<E>(self, value: &str) -> Result<RawValue, E> {
        Ok(RawValue::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<RawValue, A::Error> {
        let mut seq = Vec::new();
        while let Some(item) = items.next_element()? {
            seq.push(item);
        }
        Ok(RawValue::Seq(seq))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<RawValue, A::Error> {
        let mut map = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            map.push(entry);
        }
        Ok(RawValue::Map(map))
    }
}

impl Raw {
    fn into_node(self, file: FileId, text: &str) -> Result<Node, Diagnostic> {
        let Spanned {
            value,
            referenced,
            defined,
        } = self.0;
        let place = place(file, text, referenced);
        if referenced != defined {
            return Err(
                Diagnostic::error(place, "the spec's files use no anchors and aliases")
                    .label("alias"),
            );
        }
        let value = match value {
            RawValue::Null => Value::Null,
            RawValue::Bool(value) => Value::Bool(value),
            RawValue::Int(value) => Value::Int(value),
            RawValue::Text(value) => Value::Text(value),
            RawValue::Seq(items) => {
                let items = items.into_iter().map(|item| item.into_node(file, text));
                Value::Seq(items.collect::<Result<_, _>>()?)
            }
            RawValue::Map(entries) => {
                let entry = |(key, value): (Spanned<String>, Self)| {
                    let key = Key {
                        place: self::place(file, text, key.referenced),
                        text: key.value,
                    };
                    Ok((key, value.into_node(file, text)?))
                };
                Value::Map(
                    entries
                        .into_iter()
                        .map(entry)
                        .collect::<Result<_, Diagnostic>>()?,
                )
            }
        };
        Ok(Node { value, place })
    }
}

fn parse_error(file: FileId, text: &str, error: &serde_saphyr::Error) -> Diagnostic {
    let place = error.location().map_or(
        Place {
            file,
            ..Place::default()
        },
        |location| place(file, text, location),
    );
    // The parser's text ends with the place, which the diagnostic shows better.
    let message = error.without_snippet().to_string();
    let message = match message.rfind(" at line ") {
        Some(end) => message[..end].to_owned(),
        None => message,
    };
    Diagnostic::error(place, message)
}

fn place(file: FileId, text: &str, location: Location) -> Place {
    let span = location.span();
    let length = text.len() as u64;
    let (start, size) = match (span.byte_offset(), span.byte_len()) {
        (Some(start), Some(size)) => (start, size),
        // Errors carry characters only.
        _ => (byte_of_char(text, location), 1),
    };
    let start = start.min(length);
    let end = start.saturating_add(size).min(length);
    let clip = |offset: u64| u32::try_from(offset).unwrap_or(u32::MAX);
    Place {
        file,
        start: clip(start),
        end: clip(end),
    }
}

fn byte_of_char(text: &str, location: Location) -> u64 {
    let line = usize::try_from(location.line().saturating_sub(1)).unwrap_or(usize::MAX);
    let column = usize::try_from(location.column().saturating_sub(1)).unwrap_or(usize::MAX);
    let before: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let within: usize = text[before..]
        .chars()
        .take(column)
        .map(char::len_utf8)
        .sum();
    (before + within) as u64
}

fn as_offset(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}
