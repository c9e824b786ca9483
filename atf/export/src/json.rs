//! Pieces of JSON texts that are written while the trace is read.

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

/// Writes separators between elements.
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

/// A difference of nanoseconds in a larger unit: `DIGITS` is 3 for microseconds, 6 for milliseconds.
pub(crate) struct Decimal<const DIGITS: u32> {
    pub(crate) time_ns: u64,
    pub(crate) start_ns: u64,
}

impl<const DIGITS: u32> fmt::Display for Decimal<DIGITS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.time_ns < self.start_ns {
            "-"
        } else {
            ""
        };
        let ns = self.time_ns.abs_diff(self.start_ns);
        let unit = const { 10_u64.pow(DIGITS) };
        let (whole, rest) = (ns.wrapping_div(unit), ns.wrapping_rem(unit));
        write!(f, "{sign}{whole}.{rest:0digits$}", digits = DIGITS as usize)
    }
}
