//! Dumps files as text that shows the field of each byte.

use std::fmt::Write as _;

use super::shape::Region;
use super::{Case, Subject, Trace};
use crate::hex::hex;
use atf_samples::layout::{FieldKind, little_endian};

/// The content of a file of a case, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content<'a> {
    /// The same as in the clean session, which is the case with this name.
    AsIn(String),
    /// Text, such as a manifest.
    Text(&'a str),
    /// Binary data, part by part.
    Parts(Vec<Part>),
}

/// A field of a file, or bytes without fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The offset in bytes from the start of the file.
    pub offset: usize,
    /// The bytes in hexadecimal, shortened if there are many.
    pub bytes: String,
    /// The field's path, such as `events[0].function_id`; empty if the bytes have no field.
    pub name: String,
    /// The value; empty if it has nothing to show.
    pub value: String,
}

impl Case {
    /// Returns the files by path, with their contents for people.
    #[must_use]
    pub fn contents(&self) -> Vec<(&str, Content<'_>)> {
        let name = format!("v{}/clean-session", self.wire);
        let is_edited = self.subject == Subject::Session && self.name != name;
        let clean = is_edited.then(|| Trace::clean(self.wire));
        let files = self.files.iter().map(|(path, bytes)| {
            let same = clean.as_ref().and_then(|clean| clean.files().get(path));
            let content = match (self.regions(path), str::from_utf8(bytes)) {
                _ if same == Some(bytes) => Content::AsIn(name.clone()),
                ([], Ok(text)) if path.ends_with(".json") => Content::Text(text.trim_end()),
                ([], _) => Content::Parts(raw(bytes)),
                (regions, _) => Content::Parts(parts(bytes, regions)),
            };
            (path.as_str(), content)
        });
        files.collect()
    }

    /// Returns a dump of the case's files, which shows the field of every byte. Files of a session
    /// that are the same in the clean session are only named.
    #[must_use]
    pub fn dump(&self) -> String {
        let files = self.contents().into_iter().map(|(path, content)| {
            let mut text = match self.subject {
                Subject::Session => format!("{path}\n"),
                Subject::Index | Subject::Detail => String::new(),
            };
            match content {
                Content::AsIn(name) => text += &format!("as in {name}\n"),
                Content::Text(whole) => text += &format!("{whole}\n"),
                Content::Parts(parts) => {
                    for Part {
                        offset,
                        bytes,
                        name,
                        value,
                    } in parts
                    {
                        let line = format!("{offset:08x}  {bytes:<16}  {name}  {value}");
                        let _ = writeln!(text, "{}", line.trim_end());
                    }
                }
            }
            text
        });
        let between = match self.subject {
            Subject::Session => "\n",
            Subject::Index | Subject::Detail => "",
        };
        files.collect::<Vec<_>>().join(between)
    }
}

/// Returns one part per field, with its offset, bytes, name and value.
fn parts(bytes: &[u8], regions: &[Region]) -> Vec<Part> {
    let mut parts = Vec::new();
    for region in regions {
        let bytes = &bytes[region.offset..region.offset + region.size];
        let is_hole = region.name.starts_with("events[") && bytes.iter().all(|byte| *byte == 0);
        match region.record {
            Some(record) if !is_hole => {
                for field in record.fields(region.wire) {
                    let end = bytes.len().min(field.offset + field.size);
                    let Some(part) = bytes.get(field.offset..end).filter(|part| !part.is_empty())
                    else {
                        continue;
                    };
                    let value = if part.len() < field.size {
                        format!("truncated: {} of {} bytes", part.len(), field.size)
                    } else {
                        value(field.is, part)
                    };
                    let name = format!("{}.{}", region.name, field.name);
                    parts.push(Part::new(region.offset + field.offset, part, name, value));
                }
            }
            _ => {
                let name = region.name.clone();
                parts.push(Part::new(region.offset, bytes, name, String::new()));
            }
        }
    }
    parts
}

/// Returns bytes without fields, 16 per part.
fn raw(bytes: &[u8]) -> Vec<Part> {
    let lines = bytes.chunks(16).enumerate();
    lines
        .map(|(line, part)| Part::new(16 * line, part, String::new(), text(part)))
        .collect()
}

fn value(is: FieldKind, bytes: &[u8]) -> String {
    let is_ones = bytes.iter().all(|byte| *byte == 0xff);
    match is {
        FieldKind::Magic => format!("\"{}\"", text(bytes)),
        FieldKind::Reserved if bytes.iter().all(|byte| *byte == 0) => String::new(),
        FieldKind::Reserved => "not all zeros".to_owned(),
        FieldKind::Link if is_ones => "none".to_owned(),
        FieldKind::Registers => (bytes.chunks(8))
            .map(|register| little_endian(register).to_string())
            .collect::<Vec<_>>()
            .join(" "),
        FieldKind::Number if bytes.len() == 4 && little_endian(bytes) > 0xffff => {
            format!("{0} {0:#010x}", little_endian(bytes))
        }
        _ => little_endian(bytes).to_string(),
    }
}

/// Formats bytes as ASCII, with dots for unprintable bytes.
fn text(bytes: &[u8]) -> String {
    let letter = |byte: &u8| match byte {
        0x20..=0x7e => char::from(*byte),
        _ => '.',
    };
    bytes.iter().map(letter).collect()
}

impl Part {
    /// Shortens long byte sequences to keep the dump readable.
    fn new(offset: usize, bytes: &[u8], name: String, value: String) -> Self {
        let first = bytes.first().copied().unwrap_or_default();
        let shown = match bytes.len() {
            25.. if bytes.iter().all(|byte| *byte == first) => {
                format!("{first:02x} × {}", bytes.len())
            }
            257.. => {
                let rest = bytes.len() - 32;
                format!("{} and {rest} more", hex(&bytes[..32]))
            }
            _ => hex(bytes),
        };
        Self {
            offset,
            bytes: shown,
            name,
            value,
        }
    }
}
