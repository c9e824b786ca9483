//! What subcommands print: prose, wrapped and indented.

use std::fmt::Write as _;
use std::io::{self, Write};

/// Width of the text that subcommands print.
const WIDTH: usize = 96;

/// Prints. A reader that has seen enough, as in `| head`, is no error: the work goes on, and the
/// exit status says how it ended.
///
/// # Errors
///
/// Any other fault of the stream.
pub(super) fn print(mut stream: impl Write, text: &str) -> io::Result<()> {
    let printed = stream.write_all(text.as_bytes());
    match printed.and_then(|()| stream.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

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
