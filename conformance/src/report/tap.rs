//! The Test Anything Protocol, version 14: what all reports of that form are made of.

use std::io::{self, Write};

use serde_json::Value;

use super::Printable;

/// Test points, numbered as they are written.
pub(super) struct Tap<W> {
    out: W,
    seq: u64,
}

impl<W: Write> Tap<W> {
    /// Writes the first line, and the versions of what is graded by as comments.
    pub(super) fn new(mut out: W, editions: &[(&str, &str)]) -> io::Result<Self> {
        writeln!(out, "TAP version 14")?;
        for (what, edition) in editions {
            writeln!(out, "# {what} {}", Printable(edition))?;
        }
        Ok(Self { out, seq: 0 })
    }

    /// Writes a comment.
    #[cfg(feature = "kit")]
    pub(super) fn comment(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "# {}", Printable(text))
    }

    /// Says how many points come in all, before the first of them.
    #[cfg(feature = "kit")]
    pub(super) fn plan(&mut self, count: usize) -> io::Result<()> {
        writeln!(self.out, "1..{count}")
    }

    /// Says how many points there were, and ends the report.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        writeln!(self.out, "1..{}", self.seq)?;
        self.out.flush()
    }

    /// Writes a point. A directive is `SKIP` or `TODO` with its reason.
    pub(super) fn point(
        &mut self,
        is_ok: bool,
        title: &str,
        directive: Option<(&str, &str)>,
    ) -> io::Result<()> {
        self.seq += 1;
        let ok = if is_ok { "ok" } else { "not ok" };
        write!(self.out, "{ok} {} - {}", self.seq, escaped(title))?;
        match directive {
            Some((word, why)) => writeln!(
                self.out,
                " # {word} {}",
                escaped(&Printable(why).to_string())
            ),
            None => writeln!(self.out),
        }
    }

    /// Writes what there is to say about the last point: a block of YAML, whose values are JSON, which is
    /// YAML too.
    pub(super) fn diagnostics(&mut self, values: &[(&str, Value)]) -> io::Result<()> {
        writeln!(self.out, "  ---")?;
        for (key, value) in values {
            writeln!(self.out, "  {key}: {}", harmless(value))?;
        }
        writeln!(self.out, "  ...")
    }
}

/// In a description `#` begins a directive, and `\` escapes.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('#', "\\#")
}

/// JSON in one line, where what could steer a terminal is written as JSON escapes it.
fn harmless(value: &Value) -> String {
    let mut out = String::new();
    for letter in value.to_string().chars() {
        let text = Printable(letter).to_string();
        match text.starts_with("\\u{") {
            true => out.push_str(&format!("\\u{:04x}", u32::from(letter))),
            false => out.push_str(&text),
        }
    }
    out
}
