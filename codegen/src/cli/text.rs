//! Prints wrapped and indented text.

use std::fmt::Write as _;
use std::io::{self, Write};

use atf_codegen::emit;

/// The width of printed text.
const WIDTH: usize = 96;

/// Prints text. A closed pipe, as with `| head`, is not an error and does not change the command's
/// exit status.
///
/// # Errors
///
/// Returns any other error from the stream.
pub(super) fn print(mut stream: impl Write, text: &str) -> io::Result<()> {
    let printed = stream.write_all(text.as_bytes());
    match printed.and_then(|()| stream.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Appends `text` to `out`, wrapped, with each line indented by `indent` spaces.
pub(super) fn paragraph(out: &mut String, indent: usize, text: &str) {
    for line in emit::wrap(text, WIDTH - indent) {
        let _ = writeln!(out, "{:indent$}{line}", "");
    }
}
