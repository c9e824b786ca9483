//! Checks option values and converts them to the form that the library reads. Without these checks,
//! the library would reject bad values only after the program had started.

/// The signals that programs usually do not use themselves.
const SIGNALS: [&str; 5] = ["HUP", "USR1", "USR2", "URG", "WINCH"];

use std::time::Duration;

use crate::time::parse_span_in;

/// Parses how much a flight recorder keeps: at most half of the largest ring.
pub(crate) fn flight(text: &str) -> Result<String, String> {
    let expected = "expected a time such as 10, 0.5 or 500ms, or a size up to 512M";
    length(text, 512 << 20).ok_or_else(|| expected.to_owned())
}

/// Parses the length of a segment.
pub(crate) fn segment(text: &str) -> Result<String, String> {
    let expected = "expected a time such as 10, 0.5 or 500ms, or a size such as 64M";
    length(text, u64::MAX).ok_or_else(|| expected.to_owned())
}

/// Parses a time, such as `250`, `0.5` or `2s`, into milliseconds.
pub(crate) fn milliseconds(text: &str) -> Result<String, String> {
    let time = parse_span_in("ms", &text.to_ascii_lowercase())?;
    Ok((time.as_secs_f64() * 1e3).to_string())
}

/// Reads a number in a unit of this many seconds.
pub(super) fn time(number: &str, unit: f64) -> Option<Duration> {
    let number: f64 = number.parse().ok()?;
    Duration::try_from_secs_f64(number * unit).ok()
}

/// Parses a size in bytes with a unit.
pub(crate) fn size(text: &str) -> Result<String, String> {
    let text = text.to_ascii_uppercase();
    let is_valid = bytes(&text).is_some_and(|size| size > 0);
    let size = is_valid.then_some(text);
    size.ok_or_else(|| "expected a size such as 64M".to_owned())
}

/// Parses the name of a trigger signal.
pub(crate) fn signal(text: &str) -> Result<String, String> {
    let name = text.to_ascii_uppercase();
    let name = name.strip_prefix("SIG").unwrap_or(&name);
    if SIGNALS.contains(&name) {
        Ok(name.to_owned())
    } else {
        Err("expected HUP, USR1, USR2, URG or WINCH".to_owned())
    }
}

/// Parses a time, such as `10`, `0.5` or `500ms`, into seconds, or a size in bytes with a unit.
fn length(text: &str, most: u64) -> Option<String> {
    let size = text.to_ascii_uppercase();
    if bytes(&size).is_some_and(|size| (1..=most).contains(&size)) {
        return Some(size);
    }
    let time = parse_span_in("s", &text.to_ascii_lowercase()).ok()?;
    (time > Duration::ZERO).then(|| time.as_secs_f64().to_string())
}

/// Parses a size with an upper-case unit.
pub(super) fn bytes(text: &str) -> Option<u64> {
    let units = [('K', 1_u64 << 10), ('M', 1 << 20), ('G', 1 << 30)];
    units.iter().find_map(|(unit, size)| {
        let count: u64 = text.strip_suffix(*unit)?.parse().ok()?;
        count.checked_mul(*size)
    })
}
