//! Describes failures for all report formats.

use crate::cause::{Cause, Causes};
use crate::charge;
use crate::report::hexdump;
use crate::results::{CaseResult, CrossResult, Difference, Hexdump, Note, Outcome, Results};
use crate::rules::Severity;
use atf_report::{Printable, clipped, counted};

/// The maximum number of characters of a value to show. The JSON report contains the full value.
const VALUE_LETTERS: usize = 200;
/// The number of lines to show from the end of standard error.
const STDERR_LINES: usize = 20;
const STDERR_LETTERS: usize = 300;

/// Returns the implementation's name in printable form.
pub(super) fn name(results: &Results, testee: usize) -> String {
    match results.testees.get(testee) {
        Some(testee) => Printable(&testee.name).to_string(),
        None => format!("implementation {testee}"),
    }
}

/// Returns the names of a pair's writer and reader.
pub(super) fn names(results: &Results, pair: &CrossResult) -> [String; 2] {
    [pair.writer, pair.reader].map(|testee| name(results, testee))
}

/// Formats a pair's title, such as `ada-py reads what ada-c writes`.
pub(super) fn pair_title(results: &Results, pair: &CrossResult) -> String {
    let [writer, reader] = names(results, pair);
    format!("{reader} reads what {writer} writes")
}

/// Formats a result's title, such as `ada-c read v1/iftr-004-one-bit-off`.
pub(super) fn title(results: &Results, case: &CaseResult) -> String {
    let name = name(results, case.testee);
    format!("{name} {} {}", case.role.name(), Printable(&case.case))
}

/// Formats a failure, such as `wrong-accept: accept, expected reject`.
pub(super) fn failure(case: &CaseResult) -> Option<String> {
    match &case.outcome {
        Outcome::Failed { class, message, .. } => {
            let message = clipped(message, VALUE_LETTERS);
            Some(format!("{}: {}", class.name(), Printable(message)))
        }
        _ => None,
    }
}

/// Returns the lines of a failure: cause, purpose, rules, differences, notes and standard error.
pub(super) fn details(causes: &Causes<'_>, case: &CaseResult) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(Cause { id, title }) = causes.of(case) {
        lines.push(format!("cause: {} ({})", Printable(title), Printable(id)));
    }
    if !case.note.is_empty() {
        lines.push(Printable(&case.note).to_string());
    }
    let blamed = case.blamed();
    let others = case.rules.iter().filter(|id| !blamed.contains(id.as_str()));
    lines.extend(blamed.iter().map(|id| format!("charged: {}", sentence(id))));
    lines.extend(others.map(|id| format!("tests: {}", sentence(id))));
    for (seq, difference) in case.outcome.differences().iter().enumerate() {
        self::difference(difference, &mut lines);
        // Show only the first hexdump. The JSON report contains all of them.
        if let Some(dump) = difference.hexdump.as_ref().filter(|_| seq == 0) {
            bytes(dump, &mut lines);
        }
    }
    lines.extend(notes(case));
    lines.extend(stderr(&case.stderr));
    lines
}

/// Formats a rule with its sentence and sources, or a field with its location.
fn sentence(id: &str) -> String {
    match charge::sentence(id) {
        Some(text) => format!("{id}  {text}"),
        None => Printable(id).to_string(),
    }
}

/// Returns the SHOULDs that a writer's files break, and other notes.
pub(super) fn notes(case: &CaseResult) -> Vec<String> {
    let short = |note: &Note| {
        let kind = match note.severity {
            Severity::Advice => "note",
            Severity::Should | Severity::Must => "should",
        };
        let text = note.to_string();
        format!("{kind}: {}", Printable(clipped(&text, VALUE_LETTERS)))
    };
    case.notes.iter().map(short).collect()
}

fn difference(difference: &Difference, lines: &mut Vec<String>) {
    let short = |text: &str| Printable(clipped(text, VALUE_LETTERS)).to_string();
    let (place, grade) = (short(&difference.place), difference.grade.name());
    lines.push(match &difference.rule {
        Some(rule) => format!("{place} ({grade}, {}):", Printable(rule)),
        None => format!("{place} ({grade}):"),
    });
    lines.push(format!("  expected {}", short(&difference.expected)));
    lines.push(format!("  got      {}", short(&difference.got)));
}

fn bytes(dump: &Hexdump, lines: &mut Vec<String>) {
    let (offset, size) = (dump.field_offset, dump.field_size);
    let file = Printable(&dump.file);
    lines.push(match size {
        0 => format!("{file}, from {offset:#x}:"),
        _ => format!("{file}, {} at {offset:#x}:", counted(size, "byte")),
    });
    lines.extend(hexdump::text(dump).iter().map(|line| format!("  {line}")));
}

fn stderr(text: &str) -> Vec<String> {
    let all: Vec<_> = text.lines().collect();
    let first = all.len().saturating_sub(STDERR_LINES);
    let mut lines = Vec::new();
    if first > 0 {
        lines.push(format!("stderr: … ({first} earlier lines)"));
    }
    let last = all.iter().skip(first);
    lines.extend(last.map(|line| format!("stderr: {}", Printable(clipped(line, STDERR_LETTERS)))));
    lines
}
