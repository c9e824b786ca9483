//! Text files that people write.

use std::path::Path;
use std::{fs, io};

/// Reads a file in UTF-8, with or without a byte-order mark.
///
/// # Errors
///
/// The error of the operating system, or [`io::ErrorKind::InvalidData`] for another encoding.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_is_skipped_and_other_encodings_are_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let read = |bytes: &[u8]| {
            fs::write(&file, bytes).unwrap();
            read_text(file.path()).map_err(|error| error.to_string())
        };
        assert_eq!(read(b"a\n"), Ok("a\n".to_owned()));
        assert_eq!(read(b"\xef\xbb\xbfa\n"), Ok("a\n".to_owned()));
        let utf_16 = Err("not UTF-8, but UTF-16 (at 0x0)".to_owned());
        assert_eq!(read(b"\xff\xfea\0"), utf_16);
        assert_eq!(read(b"\xfe\xff\0a"), utf_16);
        let latin_1 = "not UTF-8, but another encoding (at 0x1)".to_owned();
        assert_eq!(read(b"a\xe4\n"), Err(latin_1));
    }
}
