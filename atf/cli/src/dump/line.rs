//! Builds a line of numbers without `fmt` and without allocating, because a dump has one line per
//! event.

/// The maximum length of a line in bytes: fewer than twenty numbers with their keys.
const LONGEST: usize = 1 << 9;

/// The maximum number of padding spaces for numbers and text.
const MOST_SPACES: usize = 8;

/// The numbers from 0 to 99, two digits each.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut number: u8 = 0;
    while number < 100 {
        pairs[number as usize] = [b'0' + number / 10, b'0' + number % 10];
        number += 1;
    }
    pairs
};

/// The beginning of a line: numbers and short text. Names are written separately.
#[derive(Debug)]
pub(crate) struct Line {
    bytes: [u8; LONGEST],
    end: usize,
}

impl Line {
    pub(crate) const fn new() -> Self {
        let bytes = [0; LONGEST];
        Self { bytes, end: 0 }
    }

    #[inline]
    pub(crate) fn clear(&mut self) {
        self.end = 0;
    }

    /// Returns the bytes appended since the last `clear`.
    #[inline]
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.end]
    }

    #[inline(always)]
    pub(crate) fn text(&mut self, text: &str) {
        self.next(text.len()).copy_from_slice(text.as_bytes());
    }

    /// Appends short text, padded with spaces to `width` bytes.
    #[inline(always)]
    pub(crate) fn padded(&mut self, text: &str, width: usize) {
        self.text(text);
        self.spaces(width.saturating_sub(text.len()));
    }

    /// Appends a number, padded on the left with spaces to at least `width` characters.
    #[inline(always)]
    pub(crate) fn decimal(&mut self, number: u64, width: usize) {
        let count = number.checked_ilog10().map_or(1, |log| log as usize + 1);
        self.spaces(width.saturating_sub(count));
        self.digits(number, count);
    }

    /// Appends the last `count` digits of a number.
    #[inline]
    fn digits(&mut self, number: u64, count: usize) {
        let (first, pairs) = self.next(count).as_rchunks_mut();
        let mut left = number;
        for pair in pairs.iter_mut().rev() {
            *pair = PAIRS[(left % 100) as usize];
            left /= 100;
        }
        if let [digit] = first {
            *digit = PAIRS[(left % 10) as usize][1];
        }
    }

    /// Appends a time the way [`Since`](crate::text::Since) displays it.
    #[inline]
    pub(crate) fn since(&mut self, time_ns: u64, origin_ns: Option<u64>) {
        if let Some(origin_ns) = origin_ns {
            self.text(if time_ns < origin_ns { "-" } else { "+" });
        }
        let ns = time_ns.abs_diff(origin_ns.unwrap_or(0));
        self.decimal(ns / 1_000_000_000, 1);
        self.text(".");
        self.digits(ns % 1_000_000_000, 9);
    }

    /// Appends a few spaces with a single store.
    #[inline(always)]
    fn spaces(&mut self, count: usize) {
        let start = self.end;
        self.next(MOST_SPACES).copy_from_slice(&[b' '; MOST_SPACES]);
        self.end = start + count.min(MOST_SPACES);
    }

    /// Reserves the next `count` bytes.
    #[inline(always)]
    fn next(&mut self, count: usize) -> &mut [u8] {
        let start = self.end;
        self.end += count;
        &mut self.bytes[start..self.end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Since;

    fn text(write: impl FnOnce(&mut Line)) -> String {
        let mut line = Line::new();
        write(&mut line);
        String::from_utf8(line.as_bytes().to_vec()).unwrap()
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
        for number in powers
            .flat_map(|power| [power - 1, power, power + 1])
            .chain([u64::MAX])
        {
            for width in [0, 1, 3, 8] {
                let shown = format!("{number:>width$}");
                assert_eq!(text(|line| line.decimal(number, width)), shown);
            }
        }
    }
}
