//! Text files that people write.

use std::path::Path;
use std::{fs, io};

/// Reads a file in UTF-8, with or without a byte-order mark. Another encoding is
/// [`io::ErrorKind::InvalidData`].
pub(crate) fn read_text(path: &Path) -> io::Result<String> {
    let bytes = fs::read(path)?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let is_utf16 = [[0xff, 0xfe], [0xfe, 0xff]]
            .iter()
            .any(|mark| error.as_bytes().starts_with(mark));
        let encoding = if is_utf16 {
            "UTF-16"
        } else {
            "another encoding"
        };
        let message = format!("not UTF-8, but {encoding} (at {at:#x})");
        io::Error::new(io::ErrorKind::InvalidData, message)
    })?;
    match text.strip_prefix('\u{feff}') {
        Some(text) => Ok(text.to_owned()),
        None => Ok(text),
    }
}
