//! Values with their places in a file.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use super::Place;

/// The name under which a deserializer of this crate recognises [`At`].
pub(super) const AT: &str = "atf_spec::yaml::At";
pub(super) const AT_FIELDS: &[&str] = &["file", "start", "end", "value"];

/// A value and its place in the file.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// Its place.
    pub place: Place,
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

impl<'de, T: Deserialize<'de>> Deserialize<'de> for At<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_struct(AT, AT_FIELDS, AtVisitor(PhantomData))
    }
}

struct AtVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for AtVisitor<T> {
    type Value = At<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value with its place")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<At<T>, A::Error> {
        let mut part = || -> Result<u32, A::Error> {
            let (_, part) = map.next_entry::<&str, u32>()?.ok_or_else(no_place)?;
            Ok(part)
        };
        let place = Place {
            file: super::FileId(part()?),
            start: part()?,
            end: part()?,
        };
        let (_, value) = map.next_entry::<&str, T>()?.ok_or_else(no_place)?;
        Ok(At { value, place })
    }
}

fn no_place<E: serde::de::Error>() -> E {
    E::custom("a value with its place comes only from the spec's own decoder")
}

impl<T: schemars::JsonSchema> schemars::JsonSchema for At<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        T::json_schema(generator)
    }
}
