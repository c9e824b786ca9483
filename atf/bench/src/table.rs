//! The tables, for a terminal and as Markdown.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::time::Duration;

use crate::harness::cores;

/// The amount of work in one run, to compute its cost.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Amount {
    /// Events, lookups or queries; the cost is in nanoseconds each.
    Each(u64, &'static str),
    /// Bytes; the cost is in gigabytes per second.
    Bytes(u64),
}

impl Amount {
    /// Returns the cost of one unit.
    pub(crate) fn cost(self, time: Duration) -> String {
        match self {
            Self::Each(count, unit) => {
                let each = time.as_secs_f64() * 1e9 / count.max(1) as f64;
                format!("{} ns/{unit}", three_digits(each))
            }
            Self::Bytes(bytes) => {
                let speed = bytes as f64 / 1e9 / time.as_secs_f64().max(1e-9);
                format!("{} GB/s", three_digits(speed))
            }
        }
    }
}

/// All measurements.
#[derive(Debug, Default)]
pub(crate) struct Report {
    rows: Vec<[String; 6]>,
    growth: Vec<[String; 2]>,
}

const HEADINGS: [&str; 6] = [
    "work",
    "compared with",
    "goal",
    "times as fast",
    "cost",
    "reached",
];

impl Report {
    /// Adds a row and prints it.
    pub(crate) fn add(&mut self, row: [String; 6]) {
        let [work, baseline, goal, ratio, cost, verdict] = &row;
        say(&format!(
            "{verdict:>6}  {ratio:<22} {goal:<7} {cost:<16} {work} | {baseline}"
        ));
        self.rows.push(row);
    }

    /// Adds figures for how a cost grows, and prints them.
    pub(crate) fn state_growth(&mut self, what: &str, figures: &[String]) {
        let figures = figures.join(", ");
        say(&format!("{what}: {figures}"));
        self.growth.push([what.to_owned(), figures]);
    }

    /// Returns the report as Markdown, for `docs/speed.md`.
    pub(crate) fn markdown(&self) -> String {
        let mut text = String::new();
        if !self.rows.is_empty() {
            line(&mut text, &HEADINGS);
            line(&mut text, &HEADINGS.map(|_| "---"));
            self.rows.iter().for_each(|cells| line(&mut text, cells));
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "\nMedian (and its 95 % interval) of interleaved pairs on {}. A goal counts as reached \
                 only if the whole interval reaches it.\n",
                machine(),
            );
        }
        if !self.growth.is_empty() {
            line(&mut text, &["how costs grow", "figures"]);
            line(&mut text, &["---", "---"]);
            self.growth.iter().for_each(|cells| line(&mut text, cells));
        }
        text
    }
}

fn line(text: &mut String, cells: &[impl AsRef<str>]) {
    for cell in cells {
        // Writing to a String cannot fail.
        let _ = write!(text, "| {} ", cell.as_ref());
    }
    text.push_str("|\n");
}

/// Returns the CPU's name and the number of cores, for the table's caption.
pub(crate) fn machine() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = info.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let model = field("model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    let generation = match (field("cpu family"), field("model\t")) {
        (Some(family), Some(number)) => format!(" (family {family}, model {number})"),
        _ => String::new(),
    };
    let cores = cores();
    let os = std::env::consts::OS;
    format!("{model}{generation}, {cores} cores, {os}")
}

/// Reports that work was not timed, and why.
pub(crate) fn skip(work: &str, why: &str) {
    say(&format!("SKIPPED  {work}: {why}"));
}

/// Prints a line. A closed stdout is not an error: the tables may also be written to a file.
pub(crate) fn say(line: &str) {
    let _ = writeln!(io::stdout(), "{line}");
}

/// Formats a round number of events.
pub(crate) fn millions(count: u64) -> String {
    match count {
        1_000_000.. => format!("{} M", count / 1_000_000),
        _ => format!("{} k", count / 1_000),
    }
}

/// Formats a number with three significant digits.
pub(crate) fn three_digits(number: f64) -> String {
    match number.abs() {
        100.0.. => format!("{number:.0}"),
        10.0.. => format!("{number:.1}"),
        _ => format!("{number:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Amount, Duration, three_digits};

    #[test]
    fn costs_are_stated_per_unit_or_per_second() {
        let second = Duration::from_secs(1);
        let cost = Amount::Each(1_000_000, "event").cost(second);
        assert_eq!(cost, "1000 ns/event");
        assert_eq!(Amount::Bytes(2_500_000_000).cost(second), "2.50 GB/s");
    }

    #[test]
    fn figures_have_three_significant_digits() {
        let figures = [0.123, 1.234, 12.34, 123.4].map(three_digits);
        assert_eq!(figures, ["0.12", "1.23", "12.3", "123"]);
    }
}
