//! Writes human-readable tables.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use atf::manifest::{LossKind, Missing};
use atf::symbols::Function;
use atf_analyze::{EventPlace, FunctionTimes, Node, Times, Totals};

use super::modules::{Modules, listed};
use super::rows::{Cut, PairRows, Row, Rows};
use super::{Section, Sink};
use crate::dump::Shown;
use crate::output::{Colours, Failure, write_problems};
use crate::text::{Printable, Since, Span, counted, or_dash, time_goes_back};
use crate::trace::unwritten_events;

/// The width of a column of percentages.
const PERCENT: usize = 5;
/// The length of a histogram's longest bar.
const LONGEST: u64 = 40;
/// The depth beyond which nodes are not indented further.
const DEEPEST: u32 = 60;

pub(super) struct Text<W> {
    out: W,
    colours: Colours,
    /// The session whose tables are being written.
    path: Option<PathBuf>,
}

type Written = Result<(), Failure>;

impl<W: Write> Text<W> {
    pub(super) const fn new(out: W, colours: Colours) -> Self {
        Self {
            out,
            colours,
            path: None,
        }
    }

    /// Writes the column names, with the last one left-aligned.
    fn columns(&mut self, names: &[&str], last: &str) -> Written {
        let dim = self.colours.dim;
        write!(self.out, "{dim}")?;
        for name in names {
            let width = if *name == "%" { PERCENT } else { 11 };
            write!(self.out, "{name:>width$} ")?;
        }
        Ok(writeln!(self.out, " {last}{dim:#}")?)
    }

    fn ns(&mut self, ns: Option<u64>) -> Written {
        Ok(write!(self.out, "{:>11} ", or_dash(ns.map(Span)))?)
    }

    /// Writes a total time, with a mark if it is a minimum.
    fn total(&mut self, times: &Times) -> Written {
        let least = if times.at_least > 0 { "≥" } else { "" };
        let total = format!("{least}{}", Span(times.total_ns));
        Ok(write!(self.out, "{total:>11} ")?)
    }

    fn times(&mut self, times: &Times) -> Written {
        self.ns(Some(times.self_ns))?;
        self.total(times)?;
        Ok(write!(self.out, "{:>11} ", times.calls)?)
    }

    /// Writes a time as a share of the table's time.
    fn percent(&mut self, ns: u64, whole_ns: u64) -> Written {
        let percent = || format!("{:.1}", ns as f64 * 100.0 / whole_ns as f64);
        let percent = or_dash((whole_ns > 0).then(percent));
        Ok(write!(self.out, "{percent:>PERCENT$} ")?)
    }

    /// Writes the times in a row of the function table.
    fn shared_times(&mut self, times: &Times, whole_ns: u64) -> Written {
        self.percent(times.self_ns, whole_ns)?;
        self.times(times)
    }

    /// Writes a function and anything unusual about its calls.
    fn function(
        &mut self,
        function: Option<Function<'_>>,
        modules: &Modules<'_>,
        other: &str,
        notes: &[String],
    ) -> Written {
        match function {
            Some(function) => {
                let module = modules.after_name(listed(&function));
                write!(self.out, " {}{module}", Shown(function))?;
            }
            None => write!(self.out, " ({other})")?,
        }
        if !notes.is_empty() {
            write!(self.out, "  ({})", notes.join(", "))?;
        }
        Ok(writeln!(self.out)?)
    }

    fn functions(&mut self, rows: &[Row<'_, &FunctionTimes>], cut: &Cut, whole_ns: u64) -> Written {
        let columns = ["%", "self", "total", "calls", "min", "median", "p99", "max"];
        self.columns(&columns, "function")?;
        let modules = modules(rows);
        for Row { function, value } in rows {
            self.shared_times(&value.times, whole_ns)?;
            let durations = &value.durations;
            self.ns(durations.min_ns())?;
            self.ns(durations.quantile_ns(500))?;
            self.ns(durations.quantile_ns(990))?;
            self.ns(durations.max_ns())?;
            let mut notes = open(&value.times);
            if value.unmatched > 0 {
                let returns = counted(value.unmatched, "return");
                notes.push(format!("{returns} without a call"));
            }
            self.function(*function, &modules, "", &notes)?;
        }
        if let Some(times) = &cut.others {
            self.shared_times(times, whole_ns)?;
            write!(self.out, "{:48}", "")?;
            let other = "functions beyond the limit, together";
            self.function(None, &modules, other, &open(times))?;
        }
        self.more(cut.rows, "function", "--limit 0 shows all")
    }

    fn histogram(&mut self, row: &Row<'_, &FunctionTimes>, modules: &Modules<'_>) -> Written {
        let (strong, durations) = (self.colours.strong, &row.value.durations);
        write!(self.out, "{strong}durations of{strong:#}")?;
        self.function(row.function, modules, "", &open(&row.value.times))?;
        self.columns(&["from", "to", "calls"], "histogram")?;
        // The number of calls per power of two.
        let mut counts = BTreeMap::new();
        for bucket in durations.buckets() {
            let sum = counts
                .entry(bucket.from_ns.checked_ilog2())
                .or_insert(0_u64);
            *sum = sum.saturating_add(bucket.count);
        }
        let most = counts.values().copied().max().unwrap_or(0);
        let powers = counts.keys().flatten().copied();
        let between = powers.clone().min().zip(powers.max());
        for power in between.map_or(0..0, |(first, last)| first..last + 1) {
            counts.entry(Some(power)).or_insert(0);
        }
        for (power, count) in counts {
            let (from_ns, to_ns) = match power {
                Some(power) => (1 << power, u64::MAX >> (63 - power)),
                None => (0, 0),
            };
            self.ns(Some(from_ns))?;
            self.ns(Some(to_ns))?;
            let bar = u128::from(count) * u128::from(LONGEST) / u128::from(most.max(1));
            let bar = "#".repeat(usize::try_from(bar).unwrap_or(0));
            writeln!(self.out, "{}", format!("{count:>11}  {bar}").trim_end())?;
        }
        Ok(())
    }

    fn tree(&mut self, rows: &[Row<'_, Node>], cut: &Cut, whole_ns: u64) -> Written {
        self.columns(&["%", "total", "self", "calls"], "function")?;
        let modules = modules(rows);
        for Row { function, value } in rows {
            self.percent(value.times.total_ns, whole_ns)?;
            self.total(&value.times)?;
            self.ns(Some(value.times.self_ns))?;
            write!(self.out, "{:>11} ", value.times.calls)?;
            let indent = 2 * value.depth.min(DEEPEST) as usize;
            write!(self.out, "{:indent$}", "")?;
            let other = "calls beyond the limit on nodes";
            self.function(*function, &modules, other, &open(&value.times))?;
        }
        let how = "to show all, use --min-percent 0 and no --depth";
        self.more(cut.rows, "node", how)
    }

    fn pairs(&mut self, what: &str, rows: &PairRows<'_>) -> Written {
        let strong = self.colours.strong;
        writeln!(self.out, "{strong}{what} of {}{strong:#}", Shown(rows.of))?;
        let other = what.trim_end_matches('s');
        self.columns(&["self", "total", "calls"], other)?;
        let modules = modules(&rows.pairs);
        for Row { function, value } in &rows.pairs {
            self.times(value)?;
            self.function(*function, &modules, "no caller in the trace", &open(value))?;
        }
        if let Some(times) = &rows.cut.others {
            self.times(times)?;
            let other = "pairs of any functions beyond the limit";
            self.function(None, &modules, other, &open(times))?;
        }
        self.more(rows.cut.rows, other, "--limit 0 shows all")
    }

    fn more(&mut self, rows: u64, what: &str, how: &str) -> Written {
        if rows > 0 {
            let dim = self.colours.dim;
            let rows = counted(rows, what);
            writeln!(self.out, "{dim}… {rows} not shown; {how}{dim:#}")?;
        }
        Ok(())
    }
}

/// Finds functions with equal names in a table.
fn modules<'a, T>(rows: &[Row<'a, T>]) -> Modules<'a> {
    Modules::new(
        rows.iter()
            .filter_map(|row| row.function.as_ref().map(listed)),
    )
}

fn open(times: &Times) -> Vec<String> {
    match times.open {
        0 => Vec::new(),
        open => vec![format!("{open} open at the end")],
    }
}

/// The totals in one line.
pub(crate) struct Summed<'a> {
    pub(crate) totals: &'a Totals,
    /// The origin of times; `None` shows them unchanged.
    pub(crate) origin_ns: Option<u64>,
    /// The length of the time range, if it covers only part of the trace.
    pub(crate) range_ns: Option<u64>,
    /// The events that the tracer had not yet written when it ended.
    pub(crate) unwritten: Option<Missing>,
    /// Whether the totals include all events that the tracer lost.
    pub(crate) knows_losses: bool,
}

impl Summed<'_> {
    pub(crate) fn unwritten_events(&self) -> Option<u64> {
        unwritten_events(self.unwritten)
    }

    /// Returns whether there are open, unmatched, out-of-order or abandoned calls, or lost or
    /// unwritten events.
    pub(crate) fn has_more_than_calls(&self) -> bool {
        let totals = self.totals;
        [
            totals.open,
            totals.unmatched,
            totals.out_of_order,
            totals.given_up,
            totals.missing_events,
        ]
        .iter()
        .any(|count| *count > 0)
            || !totals.losses.is_empty()
            || self.unwritten.is_some()
    }
}

impl std::fmt::Display for Summed<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let totals = self.totals;
        let (start_ns, end_ns) = totals.times.unwrap_or_default();
        let ns = self.range_ns.unwrap_or(end_ns.saturating_sub(start_ns));
        write!(
            f,
            "{}, {}, {} in {}; {} open at the end, {} without a call",
            counted(totals.threads, "thread"),
            counted(totals.events, "event"),
            counted(totals.calls, "call"),
            Span(ns),
            counted(totals.open, "call"),
            counted(totals.unmatched, "return"),
        )?;
        let lost = totals.losses;
        if let Some((first_ns, last_ns)) = lost.time_range() {
            let [first, last] = [first_ns, last_ns].map(|time_ns| Since {
                time_ns,
                origin_ns: self.origin_ns,
            });
            let least = if self.knows_losses { "" } else { "at least " };
            write!(
                f,
                ", {least}{lost} lost by the tracer from {first}s to {last}s"
            )?;
            if lost.get(LossKind::Events).is_some() {
                f.write_str(
                    " (calls around lost events may seem longer than they were, and have wrong \
                     callers)",
                )?;
            }
        } else if !self.knows_losses {
            f.write_str(", events lost by the tracer: unknown")?;
        } else if self.unwritten.is_none() {
            f.write_str(", 0 events lost by the tracer")?;
        }
        if totals.missing_events > 0 {
            let events = counted(totals.missing_events, "event");
            write!(f, ", {events} missing from the files")?;
        }
        if let Some(events) = self.unwritten_events() {
            let events = counted(events, "event");
            write!(f, ", up to {events} of each thread missing at the end")?;
        }
        if let Some(order) = time_goes_back(totals.out_of_order) {
            write!(f, ", {order}")?;
        }
        if let Some(EventPlace {
            thread, path, seq, ..
        }) = &totals.first_out_of_order
        {
            match path {
                Some(path) => write!(f, " (first: {}: events[{seq}])", Printable(path.display()))?,
                None => write!(f, " (first: thread {thread}, events[{seq}])")?,
            }
        }
        match totals.given_up {
            0 => Ok(()),
            count => write!(
                f,
                ", {} given up: too many were open",
                counted(count, "call")
            ),
        }
    }
}

impl<W: Write> Sink for Text<W> {
    fn section(&mut self, section: &Section<'_>) -> Written {
        let (process, strong) = (section.process, self.colours.strong);
        if self.path.as_deref() != Some(process.path()) {
            if self.path.is_some() {
                writeln!(self.out)?;
            }
            let path = Printable(process.path().display());
            writeln!(self.out, "{strong}{path}{strong:#}: {}", process.noun())?;
            self.path = Some(process.path().to_path_buf());
        }
        if let Some(thread) = section.thread {
            write!(self.out, "\n{strong}thread {thread}{strong:#}")?;
            if let Some(name) = process.thread_name(thread) {
                write!(self.out, " \"{}\"", Printable(name))?;
            }
            writeln!(self.out)?;
        }
        let whole_ns = section.totals.busy_ns;
        match &section.rows {
            Rows::Functions(rows, cut) => self.functions(rows, cut, whole_ns)?,
            Rows::Histograms(rows, cut) => {
                let modules = modules(rows);
                for row in rows {
                    self.histogram(row, &modules)?;
                }
                self.more(cut.rows, "function", "--limit 0 shows all")?;
            }
            Rows::Tree(rows, cut) => self.tree(rows, cut, whole_ns)?,
            Rows::Pairs(what, all) => {
                all.iter().try_for_each(|rows| self.pairs(what, rows))?;
            }
        }
        writeln!(self.out, "total: {}", section.summed())?;
        if let Some(note) = &section.note {
            writeln!(self.out, "note: {note}")?;
        }
        Ok(write_problems(
            &mut self.out,
            self.colours,
            &section.problems,
        )?)
    }
}
