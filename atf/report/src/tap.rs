//! The Test Anything Protocol, version 14. All TAP reports share this code.

#![expect(
    clippy::missing_errors_doc,
    reason = "all fail if writing the report fails"
)]

use std::io::{self, Write};

use serde_json::Value;

use crate::Printable;

/// A writer of test points, which it numbers in order.
pub struct Tap<W> {
    out: W,
    seq: u64,
}

impl<W: Write> Tap<W> {
    /// Writes the version line and the editions as comments.
    pub fn new(mut out: W, editions: &[(&str, &str)]) -> io::Result<Self> {
        writeln!(out, "TAP version 14")?;
        for (what, edition) in editions {
            writeln!(out, "# {what} {}", Printable(edition))?;
        }
        Ok(Self { out, seq: 0 })
    }

    /// Writes a comment.
    pub fn comment(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "# {}", Printable(text))
    }

    /// Writes the number of points at the start of the report.
    pub fn plan(&mut self, count: usize) -> io::Result<()> {
        writeln!(self.out, "1..{count}")
    }

    /// Writes the number of points and ends the report.
    pub fn finish(&mut self) -> io::Result<()> {
        writeln!(self.out, "1..{}", self.seq)?;
        self.out.flush()
    }

    /// Writes a point. The directive is `SKIP` or `TODO` with its reason.
    pub fn point(
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

    /// Writes the details of the last point as a YAML block. Its values are JSON, which is valid
    /// YAML.
    pub fn diagnostics(&mut self, values: &[(&str, Value)]) -> io::Result<()> {
        writeln!(self.out, "  ---")?;
        for (key, value) in values {
            writeln!(self.out, "  {key}: {}", harmless(value))?;
        }
        writeln!(self.out, "  ...")
    }
}

/// Escapes `#`, which starts a directive in a description, and `\`, the escape character.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('#', "\\#")
}

/// Formats JSON on one line, with terminal control characters escaped.
fn harmless(value: &Value) -> String {
    let mut out = String::new();
    for letter in value.to_string().chars() {
        let text = Printable(letter).to_string();
        if text.starts_with("\\u{") {
            out.push_str(&format!("\\u{:04x}", u32::from(letter)));
        } else {
            out.push_str(&text);
        }
    }
    out
}
