//! Values with their places in a file, and sequences and mappings that skip faulty entries, so that
//! one run finds the faults of all entries. The decoder has already reported these entries.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{FileId, Place};
use crate::diagnostic::Diagnostic;
use crate::inline_schema::schema_of;

/// The name under which a deserializer of this crate recognises [`At`].
pub(super) const AT: &str = "atf_spec::yaml::At";

/// A value and its place in the file.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "Parts<T>")]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// Its place.
    pub place: Place,
}

/// The parts of an [`At`], in the order in which the decoder passes them. The name is [`AT`].
#[derive(Deserialize)]
#[serde(rename = "atf_spec::yaml::At")]
struct Parts<T> {
    file: u32,
    start: u32,
    end: u32,
    value: T,
}

impl<T> From<Parts<T>> for At<T> {
    fn from(parts: Parts<T>) -> Self {
        let place = Place {
            file: FileId(parts.file),
            start: parts.start,
            end: parts.end,
        };
        let value = parts.value;
        Self { value, place }
    }
}

impl<T> At<T> {
    /// Creates a fault at the value's place.
    #[must_use]
    pub fn fault(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(self.place, message)
    }
}

impl<T> Deref for At<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: fmt::Debug> fmt::Debug for At<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl<T: fmt::Display> fmt::Display for At<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl<T: Serialize> Serialize for At<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}

/// A sequence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct List<T>(pub Vec<T>);

/// A mapping from names to values, in the file's order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pairs<T>(pub Vec<(At<String>, T)>);

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Default for Pairs<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Deref for List<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<'a, T> IntoIterator for &'a List<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<T> Pairs<T> {
    /// Returns the pairs in the file's order.
    pub fn iter(&self) -> impl Iterator<Item = (&At<String>, &T)> {
        self.0.iter().map(|(key, value)| (key, value))
    }

    /// Returns the value for a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&T> {
        self.iter()
            .find(|(key, _)| key.value == name)
            .map(|(_, value)| value)
    }

    /// Returns whether the mapping has no entries.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ListVisitor(PhantomData))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Pairs<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PairsVisitor(PhantomData))
    }
}

struct ListVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ListVisitor<T> {
    type Value = List<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<List<T>, A::Error> {
        let mut list = Vec::new();
        // Each call advances by one item, faulty or not.
        while let Some(item) = items.next_element().transpose() {
            list.extend(item.ok());
        }
        Ok(List(list))
    }
}

struct PairsVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for PairsVisitor<T> {
    type Value = Pairs<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Pairs<T>, A::Error> {
        let mut pairs = Vec::new();
        while let Some(key) = entries.next_key()? {
            pairs.extend(entries.next_value().ok().map(|value| (key, value)));
        }
        Ok(Pairs(pairs))
    }
}

schema_of!(At<T> is T);
schema_of!(List<T> is Vec<T>);
schema_of!(Pairs<T> is BTreeMap<String, T>);
