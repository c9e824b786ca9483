//! Escapes text for XML in JUnit reports and badges.

use std::fmt::{self, Display, Formatter, Write};

use crate::printable::Printable;

/// Text between tags, possibly on several lines. It is printed with escapes for terminal controls
/// and for characters that XML forbids.
#[derive(Debug)]
pub struct Text<'a>(pub &'a str);

/// The value of an attribute, on one line.
#[derive(Debug)]
pub struct Attribute<T>(pub T);

impl Display for Text<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (seq, line) in self.0.lines().enumerate() {
            if seq > 0 {
                f.write_char('\n')?;
            }
            escaped(&Printable(line).to_string(), f)?;
        }
        Ok(())
    }
}

impl<T: Display> Display for Attribute<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        escaped(&Printable(&self.0).to_string(), f)
    }
}

fn escaped(text: &str, f: &mut Formatter<'_>) -> fmt::Result {
    for letter in text.chars() {
        match letter {
            '&' => f.write_str("&amp;"),
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '"' => f.write_str("&quot;"),
            _ => f.write_char(letter),
        }?;
    }
    Ok(())
}
