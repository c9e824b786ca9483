//! The text report: each failure in full, then the matrices, and finally the totals, so that they
//! remain visible at the end.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthStr;

use super::tally::{Tally, columns, matrix};
use super::{verdict, words};
use crate::cause::Causes;
use crate::charge::group;
use crate::results::{CaseResult, Failure, Made, Results, State};
use atf_report::{Printable, clipped, counted};

pub(super) const RED: Style = AnsiColor::Red.on_default().bold();
pub(super) const GREEN: Style = AnsiColor::Green.on_default();
pub(super) const YELLOW: Style = AnsiColor::Yellow.on_default();
pub(super) const FAINT: Style = Style::new().dimmed();

/// The maximum number of unstable cases to show, and of the letters of each.
const MOST_UNSTABLE: usize = 5;
const UNSTABLE_LETTERS: usize = 200;
/// The maximum width of an implementation's name in a matrix.
const NAME_LETTERS: usize = 32;

pub(super) fn write(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let all = results.cases.iter();
    let of = |state| all.clone().filter(move |case| case.state() == state);
    let causes = Causes::new(&results.cases);
    for case in of(State::Failed) {
        failure(results, &causes, case, out)?;
    }
    for case in of(State::Known) {
        known(results, case, out)?;
    }
    let noted = of(State::Passed).filter(|case| !case.notes.is_empty());
    let mut noted = noted.peekable();
    if of(State::Known).next().is_some() || noted.peek().is_some() {
        for case in noted {
            notes(results, case, out)?;
        }
        writeln!(out)?;
    }
    section(cross_failures(results), out)?;
    section(notices(results, usize::MAX), out)?;
    groups(results, out)?;
    cross(results, out)?;
    totals(results, out)
}

fn failure(
    results: &Results,
    causes: &Causes<'_>,
    case: &CaseResult,
    out: &mut dyn Write,
) -> io::Result<()> {
    let failure = words::failure(case).unwrap_or_default();
    let title = words::title(results, case);
    writeln!(out, "{RED}FAILED{RED:#} {title}: {failure}")?;
    for line in words::details(causes, case) {
        writeln!(out, "  {line}")?;
    }
    writeln!(out)
}

fn known(results: &Results, case: &CaseResult, out: &mut dyn Write) -> io::Result<()> {
    let class = case.outcome.class().map_or("", Failure::name);
    let title = words::title(results, case);
    let reason = Printable(case.listed.as_deref().unwrap_or_default());
    writeln!(out, "{YELLOW}known{YELLOW:#}  {title}: {class} ({reason})")
}

/// Writes the notes on a writer that passed its case.
fn notes(results: &Results, case: &CaseResult, out: &mut dyn Write) -> io::Result<()> {
    let title = words::title(results, case);
    writeln!(out, "{YELLOW}passed{YELLOW:#} {title}, with notes")?;
    for line in words::notes(case) {
        writeln!(out, "  {line}")?;
    }
    Ok(())
}

/// Writes lines, followed by an empty one if there are any.
pub(super) fn section(
    lines: impl IntoIterator<Item = String>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut lines = lines.into_iter().peekable();
    let is_empty = lines.peek().is_none();
    for line in lines {
        writeln!(out, "{line}")?;
    }
    if is_empty { Ok(()) } else { writeln!(out) }
}

fn cross_failures(results: &Results) -> impl Iterator<Item = String> {
    results.misread().flat_map(|pair| {
        let [writer, reader] = words::names(results, pair);
        pair.failed.iter().map(move |(script, why)| {
            let (script, why) = (Printable(script), Printable(why));
            format!("{RED}FAILED{RED:#} {reader} reads {script} of {writer}: {why}")
        })
    })
}

/// Returns the problems that concern implementations and failure lists rather than single cases,
/// with at most `most` stale lines.
pub(super) fn notices(results: &Results, most: usize) -> Vec<String> {
    let refused = results.refused().map(|(_, testee, why)| {
        let (name, why) = (Printable(&testee.name), Printable(why));
        format!("{RED}NOT GRADED{RED:#} {name}: {why}")
    });
    let mut lines: Vec<_> = refused.collect();
    let stale = results.stale.iter().take(most);
    lines.extend(stale.map(|line| format!("{RED}STALE{RED:#} {}", Printable(line))));
    if let rest @ 1.. = results.stale.len().saturating_sub(most) {
        lines.push(format!("{RED}STALE{RED:#} … and {rest} more"));
    }
    let unstable = results.cases.iter().flat_map(|case| {
        let notes = case.unstable();
        notes.map(|note| format!("{}: {}", words::title(results, case), Printable(&note.text)))
    });
    let unstable: Vec<_> = unstable.collect();
    let most = most.min(MOST_UNSTABLE);
    lines.extend(unstable.iter().take(most).map(|line| {
        let line = clipped(line, UNSTABLE_LETTERS);
        format!("{YELLOW}UNSTABLE{YELLOW:#} {line}")
    }));
    if let more @ 1.. = unstable.len().saturating_sub(most) {
        lines.push(format!("… {more} more unstable cases: --details"));
    }
    lines
}

/// Writes the matrix of implementations by rule group.
fn groups(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let by_group = matrix(results, |case| {
        let mut groups = BTreeMap::new();
        for (rule, state) in case.by_rule() {
            let worst = groups.entry(group(rule)).or_insert(state);
            *worst = state.max(*worst);
        }
        if groups.is_empty() {
            BTreeMap::from([("other", case.state())])
        } else {
            groups
        }
    });
    let mut table = Table::new();
    let heads = by_group.keys().copied().chain(["all", "skipped"]);
    let heads = heads.map(|head| Printable(clipped(head, NAME_LETTERS)).to_string());
    table.row("", heads.map(|head| (head, FAINT)).collect());
    for column in columns(results) {
        let tallies = by_group.values();
        let tallies = tallies.map(|row| row.get(&column).copied().unwrap_or_default());
        let is_own = |case: &&CaseResult| (case.testee, case.role) == column;
        let total = Tally::count(results.cases.iter().filter(is_own));
        let mut cells: Vec<_> = tallies.chain([total]).map(cell).collect();
        cells.push((total.skipped.to_string(), FAINT));
        let name = clipped(&words::name(results, column.0), NAME_LETTERS);
        table.row(&format!("{name} {}", column.1.name()), cells);
    }
    table.write(out)
}

/// Formats the number of passed results and, if some did not pass, the total: `12` or `10/12`.
fn cell(tally: Tally) -> (String, Style) {
    let Tally { passed, .. } = tally;
    let graded = tally.graded();
    match tally.worst() {
        None => (String::new(), FAINT),
        Some(State::Skipped) => ("-".to_owned(), FAINT),
        Some(State::Passed) => (passed.to_string(), GREEN),
        Some(State::Known) => (format!("{passed}/{graded}"), YELLOW),
        Some(State::Failed) => (format!("{passed}/{graded}"), RED),
    }
}

/// Writes the matrix of writers by reader.
fn cross(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    if results.cross.is_empty() {
        return Ok(());
    }
    let readers: BTreeSet<_> = results.cross.iter().map(|pair| pair.reader).collect();
    let writers: BTreeSet<_> = results.cross.iter().map(|pair| pair.writer).collect();
    let short = |testee| clipped(&words::name(results, testee), NAME_LETTERS);
    let mut table = Table::new();
    let heads = readers.iter().map(|reader| (short(*reader), FAINT));
    table.row("writers by readers", heads.collect());
    for writer in writers {
        let cells = readers.iter().map(|reader| {
            let mut pairs = results.cross.iter();
            let pair = pairs.find(|it| (it.writer, it.reader) == (writer, *reader));
            cell(pair.map(Tally::of_pair).unwrap_or_default())
        });
        table.row(&short(writer), cells.collect());
    }
    table.write(out)
}

fn totals(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let Tally {
        passed,
        failed,
        known,
        skipped,
    } = Tally::count(&results.cases);
    let cross: usize = results.cross.iter().map(|pair| pair.failed.len()).sum();
    let style = if verdict::is_good(results) {
        GREEN
    } else {
        RED
    };
    let rules: BTreeSet<_> = results.cases.iter().flat_map(|case| &case.rules).collect();
    write!(
        out,
        "{style}{passed} passed, {failed} failed{style:#}, {known} known, {skipped} skipped"
    )?;
    if cross > 0 {
        write!(out, ", {cross} between writers and readers")?;
    }
    let rules = counted(rules.len() as u64, "rule");
    writeln!(out, "; {rules}, {:.1} s", results.elapsed.as_secs_f64())?;
    scores(results, out)?;
    editions(results, out)
}

/// Writes the editions used for grading, and the time, system and command of the run.
pub(super) fn editions(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let editions = results.editions.all();
    let editions = editions.map(|(of, version)| format!("{of} {}", Printable(version)));
    writeln!(out, "{FAINT}{}{FAINT:#}", editions.join(", "))?;
    if let Some(Made {
        at,
        system,
        command,
    }) = &results.made
    {
        let command = Printable(command);
        writeln!(out, "{FAINT}{at}, {system}: {command}{FAINT:#}")?;
    }
    Ok(())
}

/// Writes the scores of each graded implementation.
fn scores(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    for testee in 0..results.testees.len() {
        let cases = results.cases_of(testee);
        if cases.clone().next().is_some() {
            let name = words::name(results, testee);
            writeln!(out, "{name}: {}", verdict::graded(results, cases))?;
        }
    }
    Ok(())
}

/// A table of cells. The first column is left-aligned; all others are right-aligned.
pub(super) struct Table {
    rows: Vec<(String, Vec<(String, Style)>)>,
}

impl Table {
    pub(super) const fn new() -> Self {
        Self { rows: Vec::new() }
    }

    pub(super) fn row(&mut self, head: &str, cells: Vec<(String, Style)>) {
        self.rows.push((head.to_owned(), cells));
    }

    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let head_width = self.rows.iter().map(|(head, _)| head.width()).max();
        let head_width = head_width.unwrap_or(0);
        let mut widths: Vec<usize> = Vec::new();
        for (_, cells) in &self.rows {
            widths.resize(widths.len().max(cells.len()), 0);
            for (width, (text, _)) in widths.iter_mut().zip(cells) {
                *width = (*width).max(text.width());
            }
        }
        for (head, cells) in &self.rows {
            let mut line = String::new();
            let mut pad = head_width.saturating_sub(head.width());
            for ((text, style), width) in cells.iter().zip(&widths) {
                pad += 2 + width.saturating_sub(text.width());
                if !text.is_empty() {
                    line.push_str(&format!("{:pad$}{style}{text}{style:#}", ""));
                    pad = 0;
                }
            }
            writeln!(out, "{head}{line}")?;
        }
        writeln!(out)
    }
}
