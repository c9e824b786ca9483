//! Formats names, numbers and times in human-readable form.

use std::fmt;

pub(crate) use atf_report::{Printable, counted};

/// The maximum length in bytes of a function name on a line. The limit matters because many lines
/// may contain the same name.
const LONGEST: usize = 4096;

/// Returns the part of a name to show on a line.
pub(crate) fn head(name: &str) -> &str {
    &name[..name.floor_char_boundary(LONGEST)]
}

/// Returns a name's length in bytes if it is not shown completely.
pub(crate) fn length_if_cut(name: &str) -> Option<usize> {
    Some(name.len()).filter(|length| *length > LONGEST)
}

/// Formats a name for a line, with its length if it is not shown completely.
pub(crate) fn on_line(name: &str) -> String {
    let shown = Printable(head(name));
    match length_if_cut(name) {
        Some(bytes) => format!("{shown}… ({bytes} bytes)"),
        None => shown.to_string(),
    }
}

/// Formats a value, or `-` if there is none.
pub(crate) fn or_dash(value: Option<impl fmt::Display>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

/// Returns bytes as ASCII, with a `.` for each byte that cannot be printed.
pub(crate) fn letters(bytes: &[u8]) -> String {
    let letter = |byte: &u8| match byte {
        b' '..=b'~' => char::from(*byte),
        _ => '.',
    };
    bytes.iter().map(letter).collect()
}

/// Returns the first `most` names and the number of any others.
pub(crate) fn first_names(names: impl IntoIterator<Item = String>, most: usize) -> Vec<String> {
    let mut names: Vec<_> = names.into_iter().collect();
    let more = names.len().saturating_sub(most);
    names.truncate(most);
    names.extend((more > 0).then(|| format!("and {more} more")));
    names
}

/// Describes how many events are earlier than the previous one: `time goes back at 1 event`.
pub(crate) fn time_goes_back(count: u64) -> Option<String> {
    (count > 0).then(|| format!("time goes back at {}", counted(count, "event")))
}

/// A time span in a suitable unit, to three decimal places: `233.328 µs`.
pub(crate) struct Span(pub(crate) u64);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0;
        let text = match ns {
            0..1_000 => format!("{ns} ns"),
            1_000..1_000_000 => format!("{}.{:03} µs", ns / 1_000, ns % 1_000),
            1_000_000..1_000_000_000 => {
                format!("{}.{:03} ms", ns / 1_000_000, ns / 1_000 % 1_000)
            }
            _ => format!("{}.{:03} s", ns / 1_000_000_000, ns / 1_000_000 % 1_000),
        };
        f.pad(&text)
    }
}

/// Nanoseconds as seconds, exactly: `1.000233328`.
pub(crate) struct Seconds(pub(crate) u64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, ns) = (self.0 / 1_000_000_000, self.0 % 1_000_000_000);
        write!(f, "{seconds}.{ns:09}")
    }
}

/// Describes the times of a trace's first and last event.
pub(crate) fn extent((start_ns, end_ns): (u64, u64)) -> String {
    let (start, end) = (Seconds(start_ns), Seconds(end_ns));
    let span = Since {
        time_ns: end_ns,
        origin_ns: Some(start_ns),
    };
    format!("the trace spans {start}s to {end}s ({span}s)")
}

/// A time in seconds since the origin, negative before it. Without an origin, the time is absolute.
pub(crate) struct Since {
    pub(crate) time_ns: u64,
    pub(crate) origin_ns: Option<u64>,
}

impl fmt::Display for Since {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(origin_ns) = self.origin_ns else {
            return Seconds(self.time_ns).fmt(f);
        };
        let sign = if self.time_ns < origin_ns { '-' } else { '+' };
        write!(f, "{sign}{}", Seconds(self.time_ns.abs_diff(origin_ns)))
    }
}

/// Bytes in hexadecimal, without separators.
pub(crate) struct Hex<'a>(pub(crate) &'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // One `write!` per byte would be slow.
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = String::with_capacity(128);
        for chunk in self.0.chunks(64) {
            text.clear();
            for byte in chunk {
                text.push(char::from(DIGITS[usize::from(byte >> 4)]));
                text.push(char::from(DIGITS[usize::from(byte & 15)]));
            }
            f.write_str(&text)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_exact_to_three_digits() {
        let text = |ns| Span(ns).to_string();
        assert_eq!(text(999), "999 ns");
        assert_eq!(text(1_000), "1.000 µs");
        assert_eq!(text(999_999), "999.999 µs");
        assert_eq!(text(233_328_999), "233.328 ms");
        assert_eq!(text(u64::MAX), "18446744073.709 s");
    }

    #[test]
    fn times_before_the_start_are_negative() {
        let text = |time_ns, origin_ns| Since { time_ns, origin_ns }.to_string();
        assert_eq!(text(1_000_000_001, Some(1)), "+1.000000000");
        assert_eq!(text(0, Some(7)), "-0.000000007");
        assert_eq!(text(7, None), "0.000000007");
    }
}
