//! JSON values. 64-bit numbers are always decimal strings, because many parsers would round them to
//! 64-bit floats; all other numbers are JSON numbers.

use std::io::Write;
use std::path::Path;

use atf::manifest::{Loss, Losses};
use atf::symbols::Function;
use serde::{Serialize, Serializer};

use crate::output::Failure;
use crate::text::{head, length_if_cut};

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

/// Writes a value on one line.
pub(crate) fn line(mut out: impl Write, value: &impl Serialize) -> Result<(), Failure> {
    serde_json::to_writer(&mut out, value)?;
    Ok(out.write_all(b"\n")?)
}

/// Converts a path to a string, replacing bytes that are not UTF-8.
pub(crate) fn path(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Returns whether a value is 0 or false, so that JSON can omit it.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A function: its id, its name if it has one, and the full length of a truncated name.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Named<'a> {
    function_id: U64,
    #[serde(skip_serializing_if = "Option::is_none")]
    function: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_length: Option<usize>,
}

impl<'a> From<Function<'a>> for Named<'a> {
    fn from(function: Function<'a>) -> Self {
        Self {
            function_id: U64(function.id),
            function: function.name.map(head),
            function_length: function.name.and_then(length_if_cut),
        }
    }
}

/// Losses in JSON: `lost_events` and `lost_details`, each omitted if nothing was lost.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LossInfo(pub(crate) Losses);

impl Serialize for LossInfo {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let times = |loss: Loss| Times {
            count: U64(loss.count),
            first_ns: U64(loss.first_ns),
            last_ns: U64(loss.last_ns),
        };
        let losses = self.0.iter();
        serializer.collect_map(losses.map(|(kind, loss)| (kind.key(), times(loss))))
    }
}

/// The number of lost events or details, with the timestamps of the first and the last.
#[derive(Serialize)]
struct Times {
    count: U64,
    first_ns: U64,
    last_ns: U64,
}
