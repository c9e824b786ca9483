//! What a walk tells, whatever the form.

use crate::format::Meaning;
use crate::output::Failure;

/// Where a record or a stretch of other bytes begins.
#[derive(Debug)]
pub(crate) struct Heading<'a> {
    /// Its name in the spec, or a word for what is no record.
    pub(crate) name: &'a str,
    /// Its position among its like, counted from 0.
    pub(crate) seq: Option<u64>,
    /// Bytes from the start of the file.
    pub(crate) offset: u64,
    /// Its size in bytes.
    pub(crate) size: u64,
    /// What is to be said of it.
    pub(crate) about: &'a str,
    /// Whether it should not be as it is.
    pub(crate) is_wrong: bool,
}

/// A field, or an element of one.
#[derive(Debug)]
pub(crate) struct Row<'a> {
    /// The field's name; `x_regs[3]` for an element.
    pub(crate) name: &'a str,
    /// Bytes from the start of the file.
    pub(crate) offset: u64,
    /// Its bytes.
    pub(crate) bytes: &'a [u8],
    /// Its value for people.
    pub(crate) text: &'a str,
    /// Its value for programs.
    pub(crate) value: &'a serde_json::Value,
    /// What that means.
    pub(crate) meaning: &'a Meaning,
    /// What the spec says of the field; where it has been told, nothing.
    pub(crate) doc: Option<&'a str>,
}

/// Takes what a walk tells, in the order of the file's bytes.
pub(crate) trait Sink {
    /// The file itself.
    fn file(&mut self, name: &str, size: u64) -> Result<(), Failure>;

    /// A record or a stretch of other bytes begins.
    fn heading(&mut self, heading: &Heading<'_>) -> Result<(), Failure>;

    /// A field of the last heading's record.
    fn row(&mut self, row: &Row<'_>) -> Result<(), Failure>;

    /// Bytes without fields, `start` bytes behind the beginning of their stretch.
    fn opaque(&mut self, name: &str, start: u64, offset: u64, bytes: &[u8]) -> Result<(), Failure>;

    /// Bytes that the options leave out.
    fn left_out(&mut self, what: &str, offset: u64, size: u64) -> Result<(), Failure>;

    /// The end.
    fn finish(&mut self) -> Result<(), Failure>;
}
