//! Makes text from files, names and programs safe for reports.

/// Text that may come from a file or a file name. Escapes everything that could control a terminal
/// (control characters, line breaks, bidirectional marks) and everything that XML cannot represent.
#[derive(Debug)]
pub struct Printable<T>(pub T);

impl<T: std::fmt::Display> std::fmt::Display for Printable<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for letter in self.0.to_string().chars() {
            if steers(letter) {
                write!(f, "{}", letter.escape_unicode())?;
            } else {
                write!(f, "{letter}")?;
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

/// Returns a count with its noun: `1 file`, `2 files`.
pub(super) fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Truncates the text to this many characters and adds the number of omitted bytes.
pub(super) fn clipped(text: &str, letters: usize) -> String {
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
