//! JSON values. 64-bit numbers are always decimal strings, since many parsers read numbers as
//! 64-bit floats; all others are numbers.

use std::path::Path;

use serde::{Serialize, Serializer};

/// A 64-bit number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct U64(pub(crate) u64);

impl Serialize for U64 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl From<u64> for U64 {
    fn from(number: u64) -> Self {
        Self(number)
    }
}

/// A path as text; bytes that are not UTF-8 are replaced.
pub(crate) fn path(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
