//! Texts on a page: harmless, and no longer than anyone reads.

use super::printable::{Printable, clipped};

/// How much of a name and of a value is shown; JSON has all.
const NAME_LETTERS: usize = 160;
const VALUE_LETTERS: usize = 1000;

/// A name, a path or a short message.
pub(super) fn shown(text: &str) -> String {
    Printable(clipped(text, NAME_LETTERS)).to_string()
}

/// A value, or a message that holds one.
pub(super) fn shown_value(text: &str) -> String {
    Printable(clipped(text, VALUE_LETTERS)).to_string()
}

/// How long a text is once HTML has escaped it, in bytes.
pub(super) fn escaped(text: &str) -> usize {
    let long = |letter: char| match letter {
        '<' | '>' | '&' | '"' | '\'' | '/' => 6,
        _ => letter.len_utf8(),
    };
    text.chars().map(long).sum()
}
