//! A summary that fits on one screen of a terminal: each implementation's scores, followed by the
//! causes of failures, most urgent first.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::tally::{self, Scores, Tally};
use super::terminal::{self, FAINT, GREEN, RED, Table, YELLOW};
use super::{verdict, words};
use crate::cause::{Causes, Group};
use crate::results::{CaseResult, Failure, Grading, Outcome, Results, State};
use crate::rules;
use atf_report::{Printable, clipped, counted};

/// The maximum width of a line.
const WIDTH: usize = 100;
/// The number of lines of a screen.
const SCREEN: usize = 40;
/// The number of causes that are always shown.
const LEAST_CAUSES: usize = 4;
/// The maximum number of lines about the same thing, other than causes.
const MOST_LINES: usize = 3;
/// The maximum number of implementations to show as columns next to the causes.
const MOST_COLUMNS: usize = 8;
const CAUSE_LETTERS: usize = 46;
const NAME_LETTERS: usize = 24;

pub(super) fn write(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let mut groups = Causes::new(&results.cases).groups();
    groups.retain(|group| group.failed > 0);
    let mut head = Vec::new();
    testees(results, &mut head)?;
    let mut foot = Vec::new();
    for lines in [
        shoulds(results),
        cross(results),
        terminal::notices(results, MOST_LINES),
    ] {
        terminal::section(lines, &mut foot)?;
    }
    let style = if verdict::is_good(results) {
        GREEN
    } else {
        RED
    };
    let elapsed = results.elapsed.as_secs_f64();
    let headline = verdict::headline(results);
    writeln!(foot, "{style}{headline}{style:#}, {elapsed:.1} s")?;
    terminal::editions(results, &mut foot)?;
    legend(results, &groups, &mut foot)?;
    let lines = |text: &[u8]| text.iter().filter(|byte| **byte == b'\n').count();
    // The causes have a heading, and an empty line after them.
    let taken = lines(&head) + lines(&foot) + 2;
    let most = SCREEN.saturating_sub(taken).max(LEAST_CAUSES);
    out.write_all(&head)?;
    causes(results, &groups, most, out)?;
    out.write_all(&foot)
}

/// Returns the letter used as the heading of an implementation's column next to the causes.
fn letter(testee: usize) -> char {
    u8::try_from(testee).map_or('?', |seq| char::from(b'A'.saturating_add(seq)))
}

fn has_columns(results: &Results) -> bool {
    (2..=MOST_COLUMNS).contains(&results.testees.len())
}

fn testees(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new();
    let heads = [
        "graded", "data", "labels", "passed", "failed", "known", "skipped",
    ];
    table.row("", heads.map(|head| (head.to_owned(), FAINT)).into());
    for (seq, testee) in results.testees.iter().enumerate() {
        let cases = results.cases_of(seq);
        let (tally, scores) = (Tally::count(cases.clone()), Scores::count(cases.clone()));
        let name = clipped(&words::name(results, seq), NAME_LETTERS);
        let name = if has_columns(results) {
            format!("{}  {name}", letter(seq))
        } else {
            name
        };
        let labels = match results.grading {
            Grading::Data => "not graded".to_owned(),
            Grading::All => scores.label.to_string(),
        };
        let cells = match &testee.refused {
            Some(_) => vec![("not graded".to_owned(), RED)],
            None => vec![
                (format!("{} %", tally::share(cases)), FAINT),
                (scores.data.to_string(), bad(scores.data.failed, RED)),
                (labels, bad(scores.label.failed, YELLOW)),
                (tally.passed.to_string(), FAINT),
                (tally.failed.to_string(), bad(tally.failed, RED)),
                (tally.known.to_string(), bad(tally.known, YELLOW)),
                (tally.skipped.to_string(), FAINT),
            ],
        };
        table.row(&name, cells);
    }
    table.write(out)?;
    let notes = (0..results.testees.len()).flat_map(|seq| {
        let (name, cases) = (words::name(results, seq), results.cases_of(seq));
        let crash = worst_crash(cases.clone()).map(|crash| {
            let line = shortened(format!("{name}: {crash}"), WIDTH - 8, '…');
            format!("{RED}crash{RED:#} {line}")
        });
        let gaps = verdict::gaps(cases).map(|gaps| {
            let line = shortened(format!("of {name}: {gaps}"), WIDTH - 12, '…');
            format!("{YELLOW}not graded{YELLOW:#} {line}")
        });
        crash.into_iter().chain(gaps)
    });
    terminal::section(notes, out)
}

/// Describes the worst of the cases without an answer, and counts the others.
pub(super) fn worst_crash<'a>(cases: impl Iterator<Item = &'a CaseResult>) -> Option<String> {
    let is_crash = |case: &&CaseResult| {
        let class = case.outcome.class();
        case.state() == State::Failed && class.is_some_and(|class| class <= Failure::Memory)
    };
    let crashes: Vec<_> = cases.filter(is_crash).collect();
    let worst = crashes
        .iter()
        .min_by_key(|case| (case.outcome.class(), !case.files.is_clean))?;
    let Outcome::Failed { message, .. } = &worst.outcome else {
        return None;
    };
    let (message, case) = (Printable(message), Printable(&worst.case));
    Some(match crashes.len() - 1 {
        0 => format!("{message} on {case}"),
        others => format!("{message} on {case}, and {others} more"),
    })
}

/// Returns the style of a number that should be 0.
const fn bad(number: u64, style: anstyle::Style) -> anstyle::Style {
    match number {
        0 => FAINT,
        _ => style,
    }
}

fn causes(
    results: &Results,
    groups: &[Group<'_>],
    most: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    if groups.is_empty() {
        return Ok(());
    }
    let failures: usize = groups.iter().map(|group| group.failed).sum();
    let failures = counted(failures as u64, "failure");
    let causes = counted(groups.len() as u64, "cause");
    let columns = if has_columns(results) {
        results.testees.len()
    } else {
        0
    };
    let heads: String = (0..columns)
        .map(|seq| format!("{:>4}", letter(seq)))
        .collect();
    writeln!(
        out,
        "{RED}{FAINT:#} all{heads}  {RED}{failures}, {causes}{RED:#}"
    )?;
    // If not all causes fit, use the last line for the number of remaining causes.
    let shown = if groups.len() > most {
        most - 1
    } else {
        groups.len()
    };
    for group in groups.iter().take(shown) {
        cause(group, columns, out)?;
    }
    let rest = groups.get(shown..).unwrap_or_default();
    if !rest.is_empty() {
        let failures: usize = rest.iter().map(|group| group.failed).sum();
        let causes = counted(rest.len() as u64, "more cause");
        let indent = columns * 4;
        writeln!(out, "{failures:>4}{:indent$}  … {causes}", "")?;
    }
    writeln!(out)
}

fn cause(group: &Group<'_>, columns: usize, out: &mut dyn Write) -> io::Result<()> {
    let failed = || {
        let cases = group.cases.iter().map(|(_, case)| case);
        cases.filter(|case| case.state() == State::Failed)
    };
    let cells: String = (0..columns)
        .map(
            |seq| match failed().filter(|case| case.testee == seq).count() {
                0 => "   .".to_owned(),
                count => format!("{count:>4}"),
            },
        )
        .collect();
    let title = shortened(Printable(&group.cause.title), CAUSE_LETTERS, '…');
    let pad = CAUSE_LETTERS.saturating_sub(title.width());
    let left = 4 + cells.len() + 2 + CAUSE_LETTERS + 2;
    let example = failed().next().map_or("", |case| case.case.as_str());
    let example = shortened(Printable(example), WIDTH.saturating_sub(left), '*');
    let count = group.failed;
    writeln!(
        out,
        "{RED}{count:>4}{RED:#}{cells}  {title}{:pad$}  {FAINT}{example}{FAINT:#}",
        ""
    )
}

/// Describes the SHOULDs that writers' files break, most frequent first. Broken SHOULDs are not
/// failures.
fn shoulds(results: &Results) -> Vec<String> {
    let mut by_rule: BTreeMap<&str, Vec<&CaseResult>> = BTreeMap::new();
    let passed = { results.cases.iter() }.filter(|case| case.state() == State::Passed);
    for case in passed {
        let rules = case.shoulds().filter_map(|note| note.rule.as_deref());
        for rule in rules.collect::<BTreeSet<_>>() {
            by_rule.entry(rule).or_default().push(case);
        }
    }
    let mut by_rule: Vec<_> = by_rule.into_iter().collect();
    by_rule.sort_by_key(|(_, cases)| std::cmp::Reverse(cases.len()));
    let line = |(rule, cases): &(&str, Vec<&CaseResult>)| {
        let count = cases.len();
        let sentence = rules::find(rule).map_or("", |rule| rule.rule);
        let title = shortened(format!("should: {rule} {sentence}"), WIDTH / 2, '…');
        let pad = (WIDTH / 2).saturating_sub(title.width());
        let first = cases.first().map_or("", |case| case.case.as_str());
        let first = shortened(Printable(first), WIDTH / 2 - 8, '*');
        format!(
            "{YELLOW}{count:>4}{YELLOW:#}  {title}{:pad$}  {FAINT}{first}{FAINT:#}",
            ""
        )
    };
    let lines = by_rule.iter().take(MOST_LINES).map(line);
    lines.chain(more(by_rule.len(), "SHOULD")).collect()
}

/// Describes how many lines did not fit.
fn more(count: usize, noun: &str) -> Option<String> {
    let rest = count.checked_sub(MOST_LINES).filter(|rest| *rest > 0)?;
    let rest = counted(rest as u64, &format!("more {noun}"));
    Some(format!("      … {rest}"))
}

/// Truncates the text to the width, with `mark` at the end.
fn shortened(text: impl Display, width: usize, mark: char) -> String {
    let text = text.to_string();
    if text.width() <= width {
        return text;
    }
    let mut short = String::new();
    for letter in text.chars() {
        if format!("{short}{letter}{mark}").width() > width {
            break;
        }
        short.push(letter);
    }
    short.push(mark);
    short
}

/// Describes each writer–reader pair that failed.
fn cross(results: &Results) -> Vec<String> {
    let lines = results.misread().take(MOST_LINES).map(|pair| {
        let [writer, reader] = words::names(results, pair);
        let (failed, all) = (pair.failed.len(), Tally::of_pair(pair).graded());
        let first = pair.failed.first().map_or("", |(script, _)| script);
        let first = Printable(first);
        format!("{RED}{failed:>4}{RED:#} of {all} scripts of {writer} misread by {reader}: {first}")
    });
    lines
        .chain(more(results.misread().count(), "pair"))
        .collect()
}

fn legend(results: &Results, groups: &[Group<'_>], out: &mut dyn Write) -> io::Result<()> {
    let marks: BTreeSet<_> = results.cases.iter().map(CaseResult::state).collect();
    writeln!(
        out,
        "{FAINT}graded: share of the cases; data: events and their values; labels: what a reader reports on them"
    )?;
    let is_crowded = has_columns(results) && !groups.is_empty();
    let terms = [
        (marks.contains(&State::Known), "known: on a failure list"),
        (marks.contains(&State::Skipped), "skipped: not claimed"),
        (is_crowded, "A, B, …: the implementations above; .: none"),
    ];
    let terms = terms.into_iter().filter(|(is_used, _)| *is_used);
    let terms: Vec<_> = terms.map(|(_, term)| term).collect();
    if !terms.is_empty() {
        writeln!(out, "{}", terms.join("; "))?;
    }
    if let Some((_, case)) = groups.first().and_then(|group| group.cases.first()) {
        let command = "show one in full: --details --case";
        let room = WIDTH.saturating_sub(command.len() + 3);
        let name = shortened(Printable(&case.case), room, '*');
        writeln!(out, "{command} '{name}'")?;
        writeln!(
            out,
            "show all in full: --details; as a page: --report html=FILE; a case ending in * is a pattern"
        )?;
    }
    write!(out, "{FAINT:#}")
}
