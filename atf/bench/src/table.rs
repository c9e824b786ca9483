//! The tables, for a terminal and as Markdown.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::time::Duration;

use crate::harness::Comparison;
use crate::machine;

/// One row of the Speed table.
#[derive(Debug)]
pub(crate) struct Row {
    /// The work that is timed.
    pub(crate) work: String,
    /// The work it is compared with.
    pub(crate) baseline: &'static str,
    /// The speed that the work should reach, as a multiple of the baseline's. `None` for a bound,
    /// which is work that no program can avoid.
    pub(crate) goal: Option<f64>,
    pub(crate) comparison: Comparison,
    /// How much work one run does.
    pub(crate) amount: Amount,
}

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

impl Row {
    fn verdict(&self) -> &'static str {
        let ratio = self.comparison.ratio();
        match self.goal {
            None => "bound",
            Some(goal) if ratio.low >= goal => "yes",
            Some(goal) if ratio.high < goal => "below",
            Some(_) => "unsure",
        }
    }

    fn cells(&self) -> [String; 6] {
        let ratio = self.comparison.ratio();
        [
            self.work.clone(),
            self.baseline.to_owned(),
            self.goal.map_or("–".to_owned(), |goal| format!("≥ {goal}")),
            format!(
                "{:.2} ({:.2} to {:.2})",
                ratio.median, ratio.low, ratio.high
            ),
            self.amount.cost(self.comparison.ours()),
            self.verdict().to_owned(),
        ]
    }
}

/// A fact with one figure: how a cost grows, how much memory something takes, or how much it reads.
#[derive(Debug)]
pub(crate) struct Fact {
    pub(crate) what: String,
    pub(crate) figure: String,
}

/// All measurements.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) rows: Vec<Row>,
    pub(crate) growth: Vec<Fact>,
    pub(crate) memory: Vec<Fact>,
    pub(crate) reads: Vec<Fact>,
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
    pub(crate) fn add(&mut self, row: Row) {
        let [work, baseline, goal, ratio, cost, reached] = row.cells();
        let theirs = row.amount.cost(row.comparison.baseline());
        say(&format!(
            "{reached:>6}  {ratio:<22} {goal:<7} {cost:<16} {theirs:<16} {work} | {baseline}"
        ));
        self.rows.push(row);
    }

    /// Reports that work was not timed, and why.
    pub(crate) fn skip(&self, work: &str, why: &str) {
        say(&format!("SKIPPED  {work}: {why}"));
    }

    /// Adds a figure for how a cost grows, and prints it.
    pub(crate) fn state_growth(&mut self, fact: Fact) {
        say(&format!("{}: {}", fact.what, fact.figure));
        self.growth.push(fact);
    }

    /// Adds a figure for peak memory use, and prints it.
    pub(crate) fn state_memory(&mut self, fact: Fact) {
        say(&format!("{}: {}", fact.what, fact.figure));
        self.memory.push(fact);
    }

    /// Adds a figure for how much a command reads, and prints it.
    pub(crate) fn state_reads(&mut self, fact: Fact) {
        say(&format!("{}: {}", fact.what, fact.figure));
        self.reads.push(fact);
    }

    /// Returns the report as Markdown, for the README.
    pub(crate) fn markdown(&self) -> String {
        let mut text = String::new();
        if !self.rows.is_empty() {
            let pairs = self.rows.iter().map(|row| row.comparison.pairs()).min();
            let rows: Vec<_> = self.rows.iter().map(Row::cells).collect();
            line(&mut text, &HEADINGS);
            line(&mut text, &HEADINGS.map(|_| "---"));
            rows.iter().for_each(|cells| line(&mut text, cells));
            let machine = machine::name();
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "\nMedian (and its 95 % interval) of {} or more interleaved pairs on {machine}. A goal \
                 counts as reached only if the whole interval is.",
                pairs.unwrap_or_default()
            );
        }
        facts(&mut text, ["how costs grow", "figures"], &self.growth);
        facts(&mut text, ["memory", "peak"], &self.memory);
        facts(&mut text, ["reads", "figures"], &self.reads);
        text
    }
}

fn facts(text: &mut String, headings: [&str; 2], facts: &[Fact]) {
    if facts.is_empty() {
        return;
    }
    if !text.is_empty() {
        text.push('\n');
    }
    line(text, &headings);
    line(text, &["---", "---"]);
    for fact in facts {
        line(text, &[&fact.what, &fact.figure]);
    }
}

fn line(text: &mut String, cells: &[impl AsRef<str>]) {
    for cell in cells {
        // Writing to a String cannot fail.
        let _ = write!(text, "| {} ", cell.as_ref());
    }
    text.push_str("|\n");
}

/// Prints a line. A closed stdout is not an error: the tables may be written to a file as well.
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
        assert_eq!(
            Amount::Each(1_000_000, "event").cost(second),
            "1000 ns/event"
        );
        assert_eq!(Amount::Bytes(2_500_000_000).cost(second), "2.50 GB/s");
    }

    #[test]
    fn figures_have_three_significant_digits() {
        assert_eq!(
            [0.123, 1.234, 12.34, 123.4].map(three_digits),
            ["0.12", "1.23", "12.3", "123"]
        );
    }
}
