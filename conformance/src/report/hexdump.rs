//! Formats part of a file, with sixteen bytes per line and one marked field.

use crate::results::Hexdump;

/// The number of bytes per line.
const WIDTH: u64 = 16;
/// The maximum number of lines before the field.
const BEFORE: u64 = 3;
/// The maximum number of lines after the field.
const AFTER: u64 = 2;
/// The maximum number of lines in total.
const LINES: usize = 12;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    /// The offset in bytes from the start of the file. It is a multiple of 16.
    pub(super) offset: u64,
    /// The sixteen bytes, each with a flag for whether it belongs to the field. `None` stands for
    /// an unknown byte.
    pub(super) bytes: [Option<(u8, bool)>; 16],
}

/// Returns the lines around the field.
pub(super) fn lines(dump: &Hexdump) -> Vec<Line> {
    let end = (dump.bytes.len() as u64).saturating_add(dump.offset);
    let is_inside = |offset| (dump.offset..end).contains(&offset);
    // The field may be outside the known bytes, for example past the end of the file.
    let around = if is_inside(dump.field_offset) {
        dump.field_offset
    } else {
        dump.offset
    };
    let first = (around - around % WIDTH).saturating_sub(BEFORE * WIDTH);
    let first = first.max(dump.offset - dump.offset % WIDTH);
    let last = around.saturating_add(dump.field_size.max(1) - 1);
    let after = (last - last % WIDTH).saturating_add(WIDTH * (AFTER + 1));
    let starts = (first..end.min(after)).step_by(16).take(LINES);
    starts.map(|offset| line(dump, offset)).collect()
}

fn line(dump: &Hexdump, offset: u64) -> Line {
    let mut bytes = [None; 16];
    for (slot, seq) in bytes.iter_mut().zip(0..WIDTH) {
        let at = offset.saturating_add(seq);
        let index = at.checked_sub(dump.offset);
        let index = index.and_then(|index| usize::try_from(index).ok());
        let byte = index.and_then(|index| dump.bytes.get(index));
        let into_field = at.checked_sub(dump.field_offset);
        let is_marked = into_field.is_some_and(|into| into < dump.field_size);
        *slot = byte.map(|byte| (*byte, is_marked));
    }
    Line { offset, bytes }
}

impl Line {
    /// Returns the byte as a character for the text column.
    pub(super) const fn letter(byte: u8) -> char {
        match byte {
            0x20..=0x7e => byte as char,
            _ => '.',
        }
    }

    /// Returns whether the line contains a byte of the field.
    pub(super) fn is_marked(&self) -> bool {
        self.bytes.iter().flatten().any(|(_, marked)| *marked)
    }
}

/// Formats the dump as plain text, with carets below the field's bytes.
pub(super) fn text(dump: &Hexdump) -> Vec<String> {
    let mut out = Vec::new();
    for line in lines(dump) {
        let number = |byte: &Option<(u8, bool)>| match byte {
            Some((byte, _)) => format!(" {byte:02x}"),
            None => "   ".to_owned(),
        };
        let numbers: String = line.bytes.iter().map(number).collect();
        let letter = |byte: &Option<(u8, bool)>| byte.map_or(' ', |(byte, _)| Line::letter(byte));
        let letters: String = line.bytes.iter().map(letter).collect();
        out.push(format!("{:08x} {numbers}  |{letters}|", line.offset));
        if line.is_marked() {
            let caret = |byte: &Option<(u8, bool)>| match byte {
                Some((_, true)) => " ^^",
                _ => "   ",
            };
            let carets: String = line.bytes.iter().map(caret).collect();
            out.push(format!("{:8} {}", "", carets.trim_end()));
        }
    }
    out
}
