//! Makes text from files, names and programs safe for reports.

use std::fmt::{self, Write as _};

/// Text that may come from a file or a file name. It is printed with escapes for everything that
/// could control a terminal (control characters, line breaks, bidirectional marks) and for
/// everything that XML cannot represent.
#[derive(Debug)]
pub struct Printable<T>(pub T);

impl<T: fmt::Display> fmt::Display for Printable<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Escaping(f), "{}", self.0)
    }
}

/// A writer that forwards text, escaping characters that a report must not contain.
struct Escaping<'a, 'b>(&'a mut fmt::Formatter<'b>);

impl fmt::Write for Escaping<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if !text.chars().any(steers) {
            return self.0.write_str(text);
        }
        for letter in text.chars() {
            if steers(letter) {
                write!(self.0, "{}", letter.escape_unicode())?;
            } else {
                self.0.write_char(letter)?;
            }
        }
        Ok(())
    }
}

/// Returns whether a character must be escaped.
fn steers(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}'
        )
}

/// Formats a number with its noun: `1 file`, `2 files`.
#[must_use]
pub fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Truncates the text to this many characters and adds the number of omitted bytes.
#[must_use]
pub fn clipped(text: &str, letters: usize) -> String {
    match text.char_indices().nth(letters) {
        None => text.to_owned(),
        Some((end, _)) => {
            let rest = text.len().saturating_sub(end);
            format!(
                "{}… ({rest} more bytes)",
                text.get(..end).unwrap_or_default()
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_and_invalid_xml_are_escaped() {
        let name = "a\u{1b}[31m\r\n\u{202e}\u{9b}\u{ffff}z";
        let text = Printable(name).to_string();
        assert_eq!(text, "a\\u{1b}[31m\\u{d}\\u{a}\\u{202e}\\u{9b}\\u{ffff}z");
        assert_eq!(Printable("größe→λ").to_string(), "größe→λ");
    }
}
