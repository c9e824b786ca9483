//! Parses times from the command line.

use std::str::FromStr;
use std::time::Duration;

use crate::output::Failure;

/// A time: absolute, or relative to the first or the last event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Time {
    /// Nanoseconds on the trace's clock.
    Absolute(u64),
    /// Nanoseconds since the first event.
    FromStart(u64),
    /// Nanoseconds before the last event.
    BeforeEnd(u64),
}

impl Time {
    /// Converts the time to nanoseconds on the trace's clock, from 0 to `u64::MAX`.
    fn resolve(self, (start_ns, end_ns): (u64, u64)) -> u64 {
        match self {
            Self::Absolute(ns) => ns,
            Self::FromStart(ns) => start_ns.saturating_add(ns),
            Self::BeforeEnd(ns) => end_ns.saturating_sub(ns),
        }
    }
}

/// The options that select a time range.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct TimeRange {
    /// Only the part from this time on
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) from: Option<Time>,
    /// Only the part up to this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) to: Option<Time>,
}

impl TimeRange {
    /// Returns the range in nanoseconds. `times` are those of the first and the last event, or
    /// `None` for a trace without events.
    pub(crate) fn resolve(self, times: Option<(u64, u64)>) -> Result<(u64, u64), Failure> {
        let resolve = |time: Time| time.resolve(times.unwrap_or_default());
        let from_ns = self.from.map_or(0, resolve);
        let to_ns = self.to.map_or(u64::MAX, resolve);
        if from_ns > to_ns {
            let message = format!("--from ({from_ns} ns) is after --to ({to_ns} ns)");
            return Err(Failure::Usage(message));
        }
        Ok((from_ns, to_ns))
    }
}

impl FromStr for Time {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_at_checked(1) {
            Some(("+", span)) => Ok(Self::FromStart(span_ns(span)?)),
            Some(("-", span)) => Ok(Self::BeforeEnd(span_ns(span)?)),
            _ => Ok(Self::Absolute(span_ns(text)?)),
        }
    }
}

/// Parses a time span with a unit, such as `250ms`.
pub(crate) fn parse_span(text: &str) -> Result<Duration, String> {
    span_ns(text).map(Duration::from_nanos)
}

/// Parses a span such as `1.5ms` exactly. Rejects fractions of a nanosecond.
fn span_ns(text: &str) -> Result<u64, String> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, unit) = text.split_at(split.unwrap_or(text.len()));
    let digits: u32 = match unit {
        "" | "ns" => 0,
        "us" | "µs" | "μs" => 3,
        "ms" => 6,
        "s" => 9,
        _ => return Err(format!("unknown unit `{unit}`: expected ns, us, ms or s")),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() {
        let what =
            "expected a time such as 1700, 1000.25s, +1.5ms from the start or -10ms before the end";
        return Err(what.to_owned());
    }
    if unit.is_empty() && !fraction.is_empty() {
        return Err(format!(
            "a number without a unit is in nanoseconds; for seconds write {number}s, after any +"
        ));
    }
    if fraction.len() > digits as usize {
        return Err("the resolution is one nanosecond; write fewer decimals".to_owned());
    }
    // Pad the fraction to nanoseconds.
    let padded = format!("{whole}{fraction:0<width$}", width = digits as usize);
    padded
        .parse()
        .map_err(|_| format!("`{number}` is not a number of at most 64 bits"))
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
        assert_eq!(time("-1.5ms"), Time::BeforeEnd(1_500_000));
        let times = (100, 5_000);
        assert_eq!(time("+17").resolve(times), 117);
        assert_eq!(time(most).resolve(times), u64::MAX);
        assert_eq!(time("-1us").resolve(times), 4_000);
        assert_eq!(time("-0").resolve(times), 5_000);
        assert_eq!(time("-1ms").resolve(times), 0);
        let wrong = [
            "", "+", "x", "-", "--5", "+-5", "+1m", "+1.5", "+0.1ns", "+1.2.3s", "+.",
        ];
        for wrong in wrong.into_iter().chain(["+18446744073.709551616s"]) {
            assert!(wrong.parse::<Time>().is_err(), "{wrong}");
        }
    }
}
