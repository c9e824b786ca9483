//! Text from files, names and programs, as a report may show it.

/// Text that may come from a file or its name, without what could steer a terminal: control
/// characters, breaks of a line, marks that turn the direction of writing, and what XML has no way to write.
#[derive(Debug)]
pub struct Printable<T>(pub T);

impl<T: std::fmt::Display> std::fmt::Display for Printable<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for letter in self.0.to_string().chars() {
            match steers(letter) {
                true => write!(f, "{}", letter.escape_unicode())?,
                false => write!(f, "{letter}")?,
            }
        }
        Ok(())
    }
}

/// Whether a letter could do more than be read.
fn steers(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}'
        )
}

/// `1 file`, `2 files`.
pub(super) fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// A text's beginning, where it is longer than a line should be.
pub(super) fn clipped(text: &str, letters: usize) -> String {
    match text.char_indices().nth(letters) {
        None => text.to_owned(),
        Some((end, _)) => {
            let rest = text.len().saturating_sub(end);
            format!(
                "{}… ({rest} bytes more)",
                text.get(..end).unwrap_or_default()
            )
        }
    }
}
