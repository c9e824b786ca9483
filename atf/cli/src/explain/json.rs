//! JSON Lines output: one object per field.

use std::io::Write;

use serde::Serialize;

use super::{Heading, Row, Sink};
use crate::format::Meaning;
use crate::json::{self, U64};
use crate::output::Failure;
use crate::text::Hex;

/// A sink that writes a walk as JSON lines.
pub(crate) struct Json<W> {
    out: W,
    record: String,
    seq: Option<U64>,
}

#[derive(Serialize, Default)]
struct Line<'a> {
    record: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<U64>,
    field: &'a str,
    offset: U64,
    size: U64,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'a serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    meaning: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<&'a str>,
}

impl<W: Write> Json<W> {
    /// Creates a sink that writes to `out`.
    pub(crate) const fn new(out: W) -> Self {
        Self {
            out,
            record: String::new(),
            seq: None,
        }
    }
}

impl<W: Write> Sink for Json<W> {
    fn file(&mut self, _name: &str, _size: u64) -> Result<(), Failure> {
        Ok(())
    }

    fn heading(&mut self, heading: &Heading<'_>) -> Result<(), Failure> {
        heading.name.clone_into(&mut self.record);
        self.seq = heading.seq.map(U64);
        Ok(())
    }

    fn row(&mut self, row: &Row<'_>) -> Result<(), Failure> {
        let (meaning, problem) = match row.meaning {
            Meaning::Plain => (None, None),
            Meaning::Unit(unit) => (Some(*unit), None),
            Meaning::Known(meaning) => (Some(meaning.as_str()), None),
            Meaning::Odd(problem) | Meaning::Wrong(problem) => (None, Some(problem.as_str())),
        };
        let line = Line {
            record: &self.record,
            seq: self.seq,
            field: row.name,
            offset: row.offset.into(),
            size: U64(row.bytes.len() as u64),
            bytes: Some(Hex(row.bytes).to_string()),
            value: Some(row.value),
            meaning,
            problem,
        };
        json::line(&mut self.out, &line)
    }

    fn opaque(
        &mut self,
        name: &str,
        _start: u64,
        offset: u64,
        bytes: &[u8],
    ) -> Result<(), Failure> {
        let line = Line {
            record: &self.record,
            seq: self.seq,
            field: name,
            offset: offset.into(),
            size: U64(bytes.len() as u64),
            bytes: Some(Hex(bytes).to_string()),
            ..Line::default()
        };
        json::line(&mut self.out, &line)
    }

    fn left_out(&mut self, _what: &str, offset: u64, size: u64) -> Result<(), Failure> {
        let line = Line {
            record: "left out",
            offset: offset.into(),
            size: size.into(),
            ..Line::default()
        };
        json::line(&mut self.out, &line)
    }
}
