//! Writes CSV: a line of column names, then one line per row.

use std::fmt::Display;
use std::io::Write;

use atf::symbols::Function;
use atf_analyze::Times;
use atf_export::csv::Formulas;

use super::rows::Rows;
use super::{Section, Sink};
use crate::dump::Shown;
use crate::output::{Failure, complain};
use crate::text::{Printable, counted};

/// The CSV output for tables (RFC 4180, but with a line feed at the end of each line). The last
/// column contains notes on missing or invalid events, each in a row without numbers.
pub(super) struct Csv<W> {
    out: W,
    formulas: Formulas,
    /// The number of columns between the path and thread and the note; 0 before the first table.
    columns: usize,
}

type Written = Result<(), Failure>;

impl<W: Write> Csv<W> {
    pub(super) const fn new(out: W, formulas: Formulas) -> Self {
        Self {
            out,
            formulas,
            columns: 0,
        }
    }

    fn text(&self, text: impl Display) -> String {
        self.formulas.text(&text.to_string()).into_owned()
    }

    /// Returns the cells of a function.
    fn function(&self, function: Option<Function<'_>>) -> [String; 2] {
        match function {
            Some(function) => [format!("{:#018x}", function.id), self.text(Shown(function))],
            None => [String::new(), String::new()],
        }
    }

    /// Writes a row without a note.
    fn line(&mut self, cells: &[&[String]]) -> Written {
        Ok(writeln!(self.out, "{},", cells.concat().join(","))?)
    }

    fn note(&mut self, [path, thread]: &[String; 2], note: &str) -> Written {
        let empty = ",".repeat(self.columns);
        let note = self.text(Printable(note));
        Ok(writeln!(self.out, "{path},{thread},{empty}{note}")?)
    }

    fn columns(&mut self, columns: &str) -> Written {
        if self.columns == 0 {
            writeln!(self.out, "path,thread,{columns},note")?;
            self.columns = columns.split(',').count();
        }
        Ok(())
    }
}

fn times(times: &Times) -> [String; 5] {
    let Times {
        calls,
        open,
        at_least,
        self_ns,
        total_ns,
        ..
    } = *times;
    [calls, open, at_least, self_ns, total_ns].map(|number| number.to_string())
}

/// Formats a number, or returns an empty string if there is none.
fn number(number: Option<impl Display>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}

impl<W: Write> Sink for Csv<W> {
    fn section(&mut self, section: &Section<'_>) -> Written {
        let path = self.text(Printable(section.process.path().display()));
        let place = [path, number(section.thread)];
        match &section.rows {
            Rows::Functions(rows, cut) => {
                self.columns(
                    "function_id,function,calls,open,at_least,self_ns,total_ns,min_ns,median_ns,p99_ns,\
                     max_ns,unmatched",
                )?;
                for row in rows {
                    let durations = &row.value.durations;
                    let quantiles = [
                        durations.min_ns(),
                        durations.quantile_ns(500),
                        durations.quantile_ns(990),
                        durations.max_ns(),
                        Some(row.value.unmatched),
                    ];
                    let function = self.function(row.function);
                    let numbers = times(&row.value.times);
                    self.line(&[&place, &function, &numbers, &quantiles.map(number)])?;
                }
                if let Some(others) = &cut.others {
                    let (function, none) = (self.function(None), vec![String::new(); 5]);
                    self.line(&[&place, &function, &times(others), &none])?;
                }
            }
            Rows::Histograms(rows, _) => {
                self.columns("function_id,function,from_ns,to_ns,calls")?;
                for row in rows {
                    let function = self.function(row.function);
                    for bucket in row.value.durations.buckets() {
                        let numbers = [bucket.from_ns, bucket.to_ns, bucket.count];
                        let numbers = numbers.map(|number| number.to_string());
                        self.line(&[&place, &function, &numbers])?;
                    }
                }
            }
            Rows::Tree(rows, _) => {
                self.columns("depth,function_id,function,calls,open,at_least,self_ns,total_ns")?;
                for row in rows {
                    let depth = [row.value.depth.to_string()];
                    let function = self.function(row.function);
                    self.line(&[&place, &depth, &function, &times(&row.value.times)])?;
                }
            }
            Rows::Pairs(what, all) => {
                let is_callees = *what == "callees";
                self.columns(
                    "caller_id,caller,callee_id,callee,calls,open,at_least,self_ns,total_ns",
                )?;
                for rows in all {
                    for row in &rows.pairs {
                        let (of, other) =
                            (self.function(Some(rows.of)), self.function(row.function));
                        let pair = if is_callees { [of, other] } else { [other, of] };
                        self.line(&[&place, &pair.concat(), &times(&row.value)])?;
                    }
                }
                // The combined pairs are the same for all functions.
                if let Some(others) = all.first().and_then(|rows| rows.cut.others) {
                    let none = [self.function(None), self.function(None)].concat();
                    self.line(&[&place, &none, &times(&others)])?;
                }
            }
        }
        let sums = section.summed();
        if sums.has_more_than_calls() {
            self.note(&place, &sums.to_string())?;
        }
        for note in section.note.iter().chain(&section.problems) {
            self.note(&place, note)?;
        }
        // Report problems that the rows do not show on standard error.
        let mut place = section.process.path().display().to_string();
        if let Some(thread) = section.thread {
            place += &format!(": thread {thread}");
        }
        let (cut, how) = match &section.rows {
            Rows::Functions(_, cut) | Rows::Histograms(_, cut) => (cut.rows, "use --limit 0"),
            Rows::Tree(_, cut) => (cut.rows, "use --min-percent 0 and no --depth"),
            Rows::Pairs(_, all) => {
                let cut = all.iter().map(|rows| rows.cut.rows);
                (cut.sum(), "use --limit 0")
            }
        };
        if cut > 0 {
            let rows = counted(cut, "row");
            complain(format_args!(
                "{place}: {rows} not shown; to show all, {how}"
            ));
        }
        if sums.has_more_than_calls() {
            complain(format_args!("{place}: {sums}"));
        }
        Ok(())
    }
}
