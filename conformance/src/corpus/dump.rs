//! Dumps files as text that shows the field of each byte.

use std::fmt::Write as _;

use super::document::hex;
use super::shape::Region;
use super::{Case, Subject, Trace};
use atf_samples::layout::{FieldKind, little_endian};

/// Formats the files of a case. Files of a session that are the same in the clean session are only
/// named.
pub(super) fn case(case: &Case) -> String {
    if case.subject != Subject::Session {
        let files = case.files.iter();
        return files.map(|(path, bytes)| file(case, path, bytes)).collect();
    }
    let name = format!("v{}/clean-session", case.wire);
    let clean = (case.name != name).then(|| Trace::clean(case.wire));
    let files = case.files.iter().map(|(path, bytes)| {
        let same = clean.as_ref().and_then(|clean| clean.files().get(path));
        if same == Some(bytes) {
            format!("{path}\nas in {name}\n")
        } else {
            format!("{path}\n{}", file(case, path, bytes))
        }
    });
    files.collect::<Vec<_>>().join("\n")
}

fn file(case: &Case, path: &str, bytes: &[u8]) -> String {
    match (case.regions(path), str::from_utf8(bytes)) {
        ([], Ok(text)) if path.ends_with(".json") => text.trim_end().to_owned() + "\n",
        ([], _) => raw(bytes),
        (regions, _) => dump(bytes, regions),
    }
}

/// Formats one line per field, with its offset, bytes, name and value.
fn dump(bytes: &[u8], regions: &[Region]) -> String {
    let mut out = String::new();
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
                    line(&mut out, region.offset + field.offset, part, &name, &value);
                }
            }
            _ => line(&mut out, region.offset, bytes, &region.name, ""),
        }
    }
    out
}

/// Formats bytes without fields, 16 per line.
fn raw(bytes: &[u8]) -> String {
    let mut out = String::new();
    for (line_number, part) in bytes.chunks(16).enumerate() {
        line(&mut out, 16 * line_number, part, "", &text(part));
    }
    out
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

/// Adds a line. Shortens long byte sequences to keep the dump readable.
fn line(out: &mut String, offset: usize, bytes: &[u8], name: &str, value: &str) {
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
    let line = format!("{offset:08x}  {shown:<16}  {name}  {value}");
    let _ = writeln!(out, "{}", line.trim_end());
}
