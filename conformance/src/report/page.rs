//! Prepares text for a page: escapes unprintable characters and limits the length.

use super::printable::{Printable, clipped};

/// The maximum length of a name in characters. The JSON report contains the full name.
const NAME_LETTERS: usize = 160;
/// The maximum length of a value in characters. The JSON report contains the full value.
const VALUE_LETTERS: usize = 1000;

/// Prepares a name, a path or a short message for the page.
pub(super) fn shown(text: &str) -> String {
    Printable(clipped(text, NAME_LETTERS)).to_string()
}

/// Prepares a value, or a message that contains a value.
pub(super) fn shown_value(text: &str) -> String {
    Printable(clipped(text, VALUE_LETTERS)).to_string()
}

/// Returns the length of the HTML-escaped text, in bytes.
pub(super) fn escaped(text: &str) -> usize {
    let long = |letter: char| match letter {
        '<' | '>' | '&' | '"' | '\'' | '/' => 6,
        _ => letter.len_utf8(),
    };
    text.chars().map(long).sum()
}
