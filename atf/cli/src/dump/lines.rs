//! Formats lines of numbers and short text without `fmt` and without allocating, because a dump has
//! one line per event.

use std::io::{self, Write};
use std::mem;

/// The size at which a block of lines is written, in bytes. The last line may exceed it.
const BLOCK: usize = 64 << 10;

/// The maximum length of a [`Line`] in bytes, enough for almost twenty numbers with their keys.
const LONGEST: usize = 1 << 9;

/// The numbers from 0 to 999: the three digits, then the number of leading zeros among them.
static THREE_DIGITS: [[u8; 4]; 1_000] = {
    let mut all = [[0; 4]; 1_000];
    let mut number: u16 = 0;
    while number < 1_000 {
        let zeros = (number < 100) as u8 + (number < 10) as u8;
        all[number as usize] = [
            b'0' + (number / 100 % 10) as u8,
            b'0' + (number / 10 % 10) as u8,
            b'0' + (number % 10) as u8,
            zeros,
        ];
        number += 1;
    }
    all
};

/// Buffered output.
#[derive(Debug)]
pub(crate) struct Lines<W: Write> {
    out: W,
    bytes: Box<[u8; BLOCK + LONGEST]>,
    end: usize,
}

impl<W: Write> Lines<W> {
    pub(crate) fn new(out: W) -> Self {
        Self {
            out,
            bytes: Box::new([0; BLOCK + LONGEST]),
            end: 0,
        }
    }

    /// Begins a line. [`Line::end`] appends the line to the output.
    #[inline(always)]
    pub(crate) fn line(&mut self) -> io::Result<Line<'_>> {
        if self.end > BLOCK {
            self.write_block()?;
        }
        let (_, rest) = self.bytes.split_at_mut(self.end);
        Ok(Line {
            bytes: rest.first_chunk_mut().expect("room for a line"),
            size: 0,
            end: &mut self.end,
        })
    }

    #[cold]
    #[inline(never)]
    fn write_block(&mut self) -> io::Result<()> {
        // Take the bytes first, so that nothing is written twice even if this fails.
        let end = mem::take(&mut self.end);
        self.out.write_all(&self.bytes[..end])
    }
}

impl<W: Write> Write for Lines<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.len() > BLOCK.saturating_sub(self.end) {
            self.write_block()?;
            if bytes.len() > BLOCK {
                return self.out.write_all(bytes);
            }
        }
        self.bytes[self.end..][..bytes.len()].copy_from_slice(bytes);
        self.end += bytes.len();
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_block()?;
        self.out.flush()
    }
}

impl<W: Write> Drop for Lines<W> {
    /// If a command failed, writes the lines formatted so far.
    fn drop(&mut self) {
        let _ = self.write_block();
    }
}

/// A line, or part of a line, made of numbers and short text. [`Lines::write_all`] writes other
/// text.
///
/// Methods that are not inlined take the fields instead of the struct, so the fields stay in
/// registers.
#[derive(Debug)]
#[must_use]
pub(crate) struct Line<'a> {
    bytes: &'a mut [u8; LONGEST],
    size: usize,
    end: &'a mut usize,
}

impl Line<'_> {
    #[inline(always)]
    pub(crate) fn text(&mut self, text: &str) {
        self.bytes[self.size..][..text.len()].copy_from_slice(text.as_bytes());
        self.size += text.len();
    }

    /// Appends short text, padded with spaces to at least `WIDTH` bytes, at most 16.
    #[inline(always)]
    pub(crate) fn padded<const WIDTH: usize>(&mut self, text: &str) {
        self.text(text);
        self.size = put(
            self.bytes,
            self.size,
            [b' '; 16],
            WIDTH.saturating_sub(text.len()),
        );
    }

    /// Appends a number, padded on the left with spaces to at least `WIDTH` characters, from 1 to
    /// 8.
    #[inline(always)]
    pub(crate) fn decimal<const WIDTH: usize>(&mut self, number: u64) {
        self.size = decimal::<WIDTH>(self.bytes, self.size, number);
    }

    /// Appends a time the way [`Since`](crate::text::Since) displays it.
    #[inline(always)]
    pub(crate) fn since(&mut self, time_ns: u64, origin_ns: Option<u64>) {
        if let Some(origin_ns) = origin_ns {
            self.text(if time_ns < origin_ns { "-" } else { "+" });
        }
        let ns = time_ns.abs_diff(origin_ns.unwrap_or(0));
        self.decimal::<1>(ns / 1_000_000_000);
        self.text(".");
        self.size = nine_digits(self.bytes, self.size, ns % 1_000_000_000);
    }

    /// Appends the line to the output.
    #[inline(always)]
    pub(crate) fn end(self) {
        *self.end += self.size;
    }
}

/// The bytes of a line. Each of the functions below writes text at `start` and returns the end of
/// the text.
type Bytes = [u8; LONGEST];

/// Writes `N` bytes. Only the first `size` are text. The text that follows overwrites the rest.
#[inline(always)]
fn put<const N: usize>(line: &mut Bytes, start: usize, bytes: [u8; N], size: usize) -> usize {
    line[start..][..N].copy_from_slice(&bytes);
    start.wrapping_add(size)
}

#[inline(always)]
fn decimal<const WIDTH: usize>(line: &mut Bytes, start: usize, number: u64) -> usize {
    if number < 1_000 {
        return first_digits(line, start, number, WIDTH);
    }
    long::<WIDTH>(line, start, number)
}

/// Writes a number of at least four digits.
#[inline(never)]
fn long<const WIDTH: usize>(line: &mut Bytes, start: usize, number: u64) -> usize {
    let (mut end, last) = (start, number % 1_000);
    if number < 1_000_000 {
        end = first_digits(line, end, number / 1_000, WIDTH.saturating_sub(3));
    } else if number < 1_000_000_000 {
        end = first_digits(line, end, number / 1_000_000, WIDTH.saturating_sub(6));
        end = three_digits(line, end, number / 1_000 % 1_000);
    } else {
        end = decimal::<1>(line, end, number / 1_000_000_000);
        return nine_digits(line, end, number % 1_000_000_000);
    }
    three_digits(line, end, last)
}

/// Writes a number below 1000, padded as by [`Line::decimal`].
#[inline(always)]
fn first_digits(line: &mut Bytes, start: usize, number: u64, width: usize) -> usize {
    let word = THREE_DIGITS[(number % 1_000) as usize];
    let [.., zeros] = word;
    let count = 3_usize.wrapping_sub(zeros.into());
    let mut start = start;
    if width > 1 {
        start = put(line, start, [b' '; 8], width.saturating_sub(count));
    }
    let digits = u32::from_le_bytes(word).wrapping_shr(8 * u32::from(zeros));
    put(line, start, digits.to_le_bytes(), count)
}

/// Writes a number below 1000 with its leading zeros.
#[inline(always)]
fn three_digits(line: &mut Bytes, start: usize, number: u64) -> usize {
    put(line, start, THREE_DIGITS[(number % 1_000) as usize], 3)
}

/// Writes a number below 10⁹ with its leading zeros.
#[inline(always)]
fn nine_digits(line: &mut Bytes, start: usize, number: u64) -> usize {
    let start = three_digits(line, start, number / 1_000_000);
    let start = three_digits(line, start, number / 1_000 % 1_000);
    three_digits(line, start, number % 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Since;

    fn text(write: impl FnOnce(&mut Line<'_>)) -> String {
        let mut written = Vec::new();
        let mut lines = Lines::new(&mut written);
        let mut line = lines.line().unwrap();
        write(&mut line);
        line.end();
        drop(lines);
        String::from_utf8(written).unwrap()
    }

    #[test]
    fn times_are_appended_as_they_are_displayed() {
        let ends = [
            0,
            1,
            7,
            99,
            999_999_999,
            1_000_000_000,
            1_000_000_001,
            u64::MAX,
        ];
        for time_ns in ends {
            for origin_ns in ends.map(Some).into_iter().chain([None]) {
                let shown = Since { time_ns, origin_ns }.to_string();
                assert_eq!(text(|line| line.since(time_ns, origin_ns)), shown);
            }
        }
    }

    #[test]
    fn numbers_are_appended_as_they_are_displayed() {
        let powers = (0..20).map(|power| 10_u64.pow(power));
        let near = powers.flat_map(|power| [power - 1, power, power + 1]);
        let spread = (0..10_000).map(|number| number * 9_999);
        for number in near.chain(spread).chain([u64::MAX]) {
            let shown = |width| format!("{number:>width$}");
            assert_eq!(text(|line| line.decimal::<1>(number)), shown(1));
            assert_eq!(text(|line| line.decimal::<3>(number)), shown(3));
            assert_eq!(text(|line| line.decimal::<4>(number)), shown(4));
            assert_eq!(text(|line| line.decimal::<8>(number)), shown(8));
        }
    }

    #[test]
    fn all_lines_are_written_once_in_order() {
        let (mut all, mut written) = (Vec::new(), Vec::new());
        let mut lines = Lines::new(&mut written);
        for number in 0..20_000 {
            let name = "n".repeat(if number % 5_000 == 0 {
                70_000
            } else {
                number % 40
            });
            let mut line = lines.line().unwrap();
            line.padded::<9>("kind");
            line.decimal::<8>(number as u64);
            line.end();
            lines.write_all(name.as_bytes()).unwrap();
            lines.write_all(b"\n").unwrap();
            writeln!(all, "kind     {number:>8}{name}").unwrap();
        }
        drop(lines);
        assert!(written == all);
    }
}
