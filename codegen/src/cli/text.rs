//! Prose on a terminal: wrapped, indented.

use std::fmt::Write;

/// Width of the text that subcommands print.
const WIDTH: usize = 96;

/// Adds `text` to `out`, wrapped, each line behind `indent` spaces.
pub(super) fn paragraph(out: &mut String, indent: usize, text: &str) {
    let mut column = 0;
    for word in text.split_whitespace() {
        let width = word.chars().count();
        if column > 0 && column + 1 + width > WIDTH {
            out.push('\n');
            column = 0;
        }
        if column == 0 {
            let _ = write!(out, "{:indent$}", "");
            column = indent;
        } else {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += width;
    }
    out.push('\n');
}
