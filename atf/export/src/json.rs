//! Pieces of JSON, written while the trace is read.

use std::fmt;
use std::io::{self, Write};

use serde_json::ser::{CompactFormatter, Formatter as _};

/// Text as a JSON string.
pub(crate) struct Quoted<'a>(pub(crate) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = serde_json::to_string(self.0).map_err(|_| fmt::Error)?;
        f.write_str(&text)
    }
}

/// The separators between elements.
#[derive(Debug, Default)]
pub(crate) struct Commas {
    is_later: bool,
}

impl Commas {
    /// Begins an element.
    pub(crate) fn next(&mut self, out: &mut impl Write) -> io::Result<()> {
        CompactFormatter.begin_array_value(out, !self.is_later)?;
        self.is_later = true;
        Ok(())
    }
}

/// An exact time since an origin, in microseconds or milliseconds.
pub(crate) struct Since {
    pub(crate) time_ns: u64,
    pub(crate) start_ns: u64,
    pub(crate) unit: Unit,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Unit {
    Micros,
    Millis,
}

impl fmt::Display for Since {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.time_ns < self.start_ns {
            "-"
        } else {
            ""
        };
        let ns = self.time_ns.abs_diff(self.start_ns);
        match self.unit {
            Unit::Micros => write!(f, "{sign}{}.{:03}", ns / 1_000, ns % 1_000),
            Unit::Millis => write!(f, "{sign}{}.{:06}", ns / 1_000_000, ns % 1_000_000),
        }
    }
}
