//! The output of a walk, independent of the output format.

use crate::format::Meaning;
use crate::output::Failure;

/// The start of a record or of a run of other bytes.
#[derive(Debug)]
pub(crate) struct Heading<'a> {
    /// The name in the spec, or a description if the bytes are not a record.
    pub(crate) name: &'a str,
    /// The position among records of the same kind, counted from 0.
    pub(crate) seq: Option<u64>,
    /// The offset in bytes from the start of the file.
    pub(crate) offset: u64,
    /// The size in bytes.
    pub(crate) size: u64,
    /// Remarks, or an empty string.
    pub(crate) about: &'a str,
    /// Whether the bytes are invalid.
    pub(crate) is_wrong: bool,
}

/// A field, or an element of one.
#[derive(Debug)]
pub(crate) struct Row<'a> {
    /// The field's name, or `x_regs[3]` for an element.
    pub(crate) name: &'a str,
    /// The offset in bytes from the start of the file.
    pub(crate) offset: u64,
    pub(crate) bytes: &'a [u8],
    /// The value in human-readable form.
    pub(crate) text: &'a str,
    /// The value in machine-readable form.
    pub(crate) value: &'a serde_json::Value,
    pub(crate) meaning: &'a Meaning,
    /// The spec's description of the field; `None` after its first occurrence.
    pub(crate) doc: Option<&'a str>,
}

/// A sink for the output of a walk, in the order of the file's bytes.
pub(crate) trait Sink {
    /// Receives the file's name and size.
    fn file(&mut self, name: &str, size: u64) -> Result<(), Failure>;

    /// Begins a record or a run of other bytes.
    fn heading(&mut self, heading: &Heading<'_>) -> Result<(), Failure>;

    /// Receives a field of the last heading's record.
    fn row(&mut self, row: &Row<'_>) -> Result<(), Failure>;

    /// Receives bytes without fields. `start` is their offset within their run.
    fn opaque(&mut self, name: &str, start: u64, offset: u64, bytes: &[u8]) -> Result<(), Failure>;

    /// Receives the offset and size of a part that the options exclude.
    fn left_out(&mut self, what: &str, offset: u64, size: u64) -> Result<(), Failure>;
}
