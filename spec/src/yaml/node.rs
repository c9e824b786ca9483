//! A YAML file as a tree in which every key and value has a place.

use std::fmt;

use super::At;
use crate::diagnostic::Place;

/// A value and its place.
#[derive(Clone, PartialEq)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// The place.
    pub place: Place,
}

/// A YAML value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `null`, `~` or nothing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A 64-bit integer, signed or unsigned.
    Int(i128),
    /// Any other number, which is never valid in a spec.
    OtherNumber,
    /// Any other scalar.
    Text(String),
    /// A sequence.
    Seq(Vec<Node>),
    /// A mapping, in the file's order. Keys are always strings.
    Map(Vec<(At<String>, Node)>),
}

impl Value {
    /// Returns the name of the kind of value in messages.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool(_) => "a boolean",
            Self::Int(_) => "an integer",
            Self::OtherNumber => "a number that is not a 64-bit integer",
            Self::Text(_) => "text",
            Self::Seq(_) => "a sequence",
            Self::Map(_) => "a mapping",
        }
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.value, f)
    }
}

impl Node {
    /// Returns the YAML path of the deepest node or key at a place, such as
    /// `fields[3].wire.1.offset`.
    #[must_use]
    pub fn path_of(&self, place: Place) -> String {
        let mut path = String::new();
        find(self, place, &mut path);
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
                path.push_str(key);
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
