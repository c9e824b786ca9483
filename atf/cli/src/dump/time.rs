//! Times on a command line.

use std::str::FromStr;
use std::time::Duration;

/// A time: absolute, or from the first event on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Time {
    /// Nanoseconds of the trace's clock.
    Absolute(u64),
    /// Nanoseconds from the first event on.
    FromStart(u64),
}

impl Time {
    /// Nanoseconds of the trace's clock; the greatest there are, where they do not suffice.
    pub(crate) fn resolve(self, start_ns: u64) -> u64 {
        match self {
            Self::Absolute(ns) => ns,
            Self::FromStart(ns) => start_ns.saturating_add(ns),
        }
    }
}

impl FromStr for Time {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix('+') {
            Some(span) => Ok(Self::FromStart(span_ns(span)?)),
            None => Ok(Self::Absolute(span_ns(text)?)),
        }
    }
}

/// A span with its unit, such as `250ms`.
pub(crate) fn parse_span(text: &str) -> Result<Duration, String> {
    span_ns(text).map(Duration::from_nanos)
}

/// `1.5ms` in nanoseconds, exactly; what is finer than a nanosecond is refused.
fn span_ns(text: &str) -> Result<u64, String> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, unit) = text.split_at(split.unwrap_or(text.len()));
    let digits: u32 = match unit {
        "" | "ns" => 0,
        "us" | "µs" | "μs" => 3,
        "ms" => 6,
        "s" => 9,
        _ => return Err(format!("`{unit}` is no unit: expected ns, us, ms or s")),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() {
        return Err("expected a time such as 1700, 1000.25s, or from the start +1.5ms".to_owned());
    }
    if unit.is_empty() && !fraction.is_empty() {
        return Err(format!(
            "a number without a unit is nanoseconds; for seconds write {number}s, behind the + if there is one"
        ));
    }
    if fraction.len() > digits as usize {
        return Err("finer than a nanosecond".to_owned());
    }
    // The fraction's digits, as many as the unit has nanoseconds.
    let padded = format!("{whole}{fraction:0<width$}", width = digits as usize);
    padded
        .parse()
        .map_err(|_| format!("`{number}` is no number of 64 bits"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact() {
        let time = |text: &str| text.parse::<Time>().unwrap();
        assert_eq!(time("17"), Time::Absolute(17));
        assert_eq!(time("1000.25s"), Time::Absolute(1_000_250_000_000));
        assert_eq!(time("+17"), Time::FromStart(17));
        assert_eq!(time("+1.5ms"), Time::FromStart(1_500_000));
        assert_eq!(time("+0.000000001s"), Time::FromStart(1));
        assert_eq!(time("+.25us"), Time::FromStart(250));
        assert_eq!(time("+3.µs"), Time::FromStart(3000));
        let most = "+18446744073.709551615s";
        assert_eq!(time(most), Time::FromStart(u64::MAX));
        assert_eq!(Time::FromStart(u64::MAX).resolve(1), u64::MAX);
        for wrong in [
            "",
            "+",
            "x",
            "-5",
            "+1m",
            "+1.5",
            "+0.1ns",
            "+1.2.3s",
            "+.",
            "+18446744073.709551616s",
        ] {
            assert!(wrong.parse::<Time>().is_err(), "{wrong}");
        }
    }
}
