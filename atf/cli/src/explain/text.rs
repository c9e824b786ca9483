//! Text output: one line per field, with at most eight bytes per line.

use std::io::Write;

use super::{Heading, Row, Sink};
use crate::format::Meaning;
use crate::output::{Colours, Failure};
use crate::text::{Printable, counted, letters};

/// Bytes per line.
const WIDTH: usize = 8;

/// A sink that writes a walk as text.
pub(super) struct Text<W> {
    pub(super) out: W,
    pub(super) colours: Colours,
}

impl<W: Write> Text<W> {
    /// Writes the offset and the bytes at the start of a line.
    fn bytes(&mut self, offset: u64, bytes: &[u8]) -> Result<(), Failure> {
        let dim = self.colours.dim;
        write!(self.out, "  {dim}{offset:#010x}{dim:#} ")?;
        for byte in bytes {
            write!(self.out, " {byte:02x}")?;
        }
        let missing = WIDTH.saturating_sub(bytes.len());
        write!(self.out, "{:width$}  ", "", width = 3 * missing)?;
        Ok(())
    }
}

impl<W: Write> Sink for Text<W> {
    fn file(&mut self, name: &str, size: u64) -> Result<(), Failure> {
        let strong = self.colours.strong;
        let (name, size) = (Printable(name), counted(size, "byte"));
        writeln!(self.out, "{strong}{name}{strong:#}: {size}")?;
        Ok(())
    }

    fn heading(&mut self, heading: &Heading<'_>) -> Result<(), Failure> {
        let strong = if heading.is_wrong {
            self.colours.bad
        } else {
            self.colours.strong
        };
        write!(self.out, "\n{strong}{}", heading.name)?;
        if let Some(seq) = heading.seq {
            write!(self.out, " {seq}")?;
        }
        let (offset, size) = (heading.offset, counted(heading.size, "byte"));
        write!(self.out, "{strong:#} at {offset:#x}, {size}")?;
        if !heading.about.is_empty() {
            write!(self.out, ": {}", Printable(heading.about))?;
        }
        writeln!(self.out)?;
        Ok(())
    }

    fn row(&mut self, row: &Row<'_>) -> Result<(), Failure> {
        let mut chunks = row.bytes.chunks(WIDTH);
        self.bytes(row.offset, chunks.next().unwrap_or_default())?;
        write!(self.out, "{:15}  {}", row.name, row.text)?;
        let Colours { good, odd, bad, .. } = self.colours;
        match row.meaning {
            Meaning::Plain => {}
            Meaning::Unit(unit) => write!(self.out, " {unit}")?,
            Meaning::Known(meaning) => write!(self.out, " = {good}{meaning}{good:#}")?,
            Meaning::Odd(problem) => write!(self.out, " ! {odd}{problem}{odd:#}")?,
            Meaning::Wrong(problem) => write!(self.out, " ! {bad}{problem}{bad:#}")?,
        }
        if let Some(doc) = row.doc {
            let dim = self.colours.dim;
            write!(self.out, "  {dim}({doc}){dim:#}")?;
        }
        writeln!(self.out)?;
        let mut offset = row.offset;
        for chunk in chunks {
            offset = offset.saturating_add(WIDTH as u64);
            self.bytes(offset, chunk)?;
            writeln!(self.out, "{}", row.name)?;
        }
        Ok(())
    }

    fn opaque(&mut self, name: &str, start: u64, offset: u64, bytes: &[u8]) -> Result<(), Failure> {
        for (line, chunk) in bytes.chunks(WIDTH).enumerate() {
            let skipped = (line * WIDTH) as u64;
            self.bytes(offset.saturating_add(skipped), chunk)?;
            let (start, letters) = (start.saturating_add(skipped), letters(chunk));
            writeln!(self.out, "{name}+{start:#x}  |{letters}|")?;
        }
        Ok(())
    }

    fn left_out(&mut self, what: &str, offset: u64, size: u64) -> Result<(), Failure> {
        let dim = self.colours.dim;
        let end = offset.saturating_add(size);
        writeln!(
            self.out,
            "\n{dim}… {what} left out, {offset:#x} to {end:#x}{dim:#}"
        )?;
        Ok(())
    }
}
