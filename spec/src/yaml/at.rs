//! Values with their places in a file.

use std::fmt;
use std::ops::Deref;

use serde::Deserialize;
use serde::ser::{Serialize, Serializer};

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

/// The parts of an [`At`], as the decoder passes them. The name is [`AT`].
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

schema_of!(At<T> is T);
