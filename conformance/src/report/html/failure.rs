//! The failures of a run, grouped by cause. Shows for each the purpose of its case, the differences
//! and the implementation's standard error.

use serde::Serialize;
use serde_json::{Value, json};

use super::rule::RuleLink;
use crate::cause::{Causes, Group};
use crate::report::hexdump::{self, Line};
use crate::report::words;
use crate::results::{CaseResult, Difference, Failure, Outcome, Results};
use atf_report::html::{escaped, shown, shown_value};
use atf_report::{Printable, clipped};

/// The maximum number of characters of standard error to show. The JSON report contains all of it.
const STDERR_LETTERS: usize = 4000;

/// The number of bytes of details that fit on the page. Once they are used up, the page shows a note
/// instead of the details of the remaining failures.
const MOST_DETAILS: usize = 2_000_000;

#[derive(Serialize)]
struct Details {
    /// The full message, if the failure's line shows only its beginning.
    message: Option<String>,
    note: String,
    rules: Vec<RuleLink>,
    notes: Vec<String>,
    differences: Vec<DifferenceView>,
    stderr: String,
}

#[derive(Serialize)]
struct DifferenceView {
    grade: &'static str,
    place: String,
    expected: String,
    got: String,
    rule: Option<RuleLink>,
    dump: Option<DumpView>,
}

#[derive(Serialize)]
struct DumpView {
    file: String,
    offset: String,
    size: u64,
    lines: Vec<Value>,
}

/// Returns all causes, most urgent first, with their failures, which begin with the example. If the
/// page is too small for all details, those of the examples take priority.
pub(super) fn causes(results: &Results) -> Vec<Value> {
    let groups = Causes::new(&results.cases).groups();
    let mut room = MOST_DETAILS;
    let examples = groups.iter();
    let examples = examples.map(|group| failures(results, &group.cases[..1], &mut room));
    let examples: Vec<_> = examples.collect();
    let groups = groups.iter().enumerate().zip(examples);
    let views = groups.map(|((seq, group), mut all)| {
        all.extend(failures(results, &group.cases[1..], &mut room));
        cause(results, seq, group, &all)
    });
    views.collect()
}

fn failures(results: &Results, cases: &[(usize, &CaseResult)], room: &mut usize) -> Vec<Value> {
    let view = |(seq, case): &(usize, &CaseResult)| failure(results, *seq, case, room);
    cases.iter().map(view).collect()
}

fn cause(results: &Results, seq: usize, group: &Group<'_>, failures: &[Value]) -> Value {
    let testees = (0..results.testees.len()).filter_map(|testee| {
        let cases = group.cases.iter();
        let count = cases.filter(|(_, case)| case.testee == testee).count();
        (count > 0).then(|| format!("{} {count}", shown(&words::name(results, testee))))
    });
    json!({
        "seq": seq,
        "id": shown(&group.cause.id),
        "title": shown(&group.cause.title),
        "state": if group.failed == 0 { "known" } else { "failed" },
        "count": group.cases.len(),
        // The number of failures for each implementation, such as `ada-c 12, ada-py 3`.
        "testees": testees.collect::<Vec<_>>().join(", "),
        "failures": failures,
    })
}

/// Returns a failure, with its details if they fit into `room`, the bytes that are left for them.
fn failure(results: &Results, seq: usize, case: &CaseResult, room: &mut usize) -> Value {
    let message = match &case.outcome {
        Outcome::Failed { message, .. } => message.as_str(),
        Outcome::Passed | Outcome::Skipped { .. } => "",
    };
    let line = shown(message);
    let whole = shown_value(message);
    let details = Details {
        message: (whole != line).then_some(whole),
        note: shown_value(&case.note),
        rules: case.rules.iter().map(|id| RuleLink::new(id)).collect(),
        notes: words::notes(case),
        differences: case.outcome.differences().iter().map(difference).collect(),
        stderr: stderr(&case.stderr),
    };
    let rest = room.checked_sub(details.size());
    *room = rest.unwrap_or(0);
    json!({
        "seq": seq,
        "state": case.state().name(),
        "testee": case.testee,
        "name": shown(&words::name(results, case.testee)),
        "role": case.role.name(),
        "case": shown(&case.case),
        "wire": wire(&case.case),
        "class": case.outcome.class().map_or("", Failure::name),
        "message": line,
        "listed": case.listed.as_deref().map(shown),
        // The ids of the case's rules, for the filters.
        "rules": shown(&case.rules.join(" ")),
        "details": rest.map(|_| details),
        // Whether `corpus show` can show the case's files.
        "is_in_corpus": case.role.reads(),
    })
}

fn stderr(text: &str) -> String {
    let lines = clipped(text, STDERR_LETTERS);
    let lines = lines.lines().map(|line| Printable(line).to_string());
    lines.collect::<Vec<_>>().join("\n")
}

fn difference(difference: &Difference) -> DifferenceView {
    DifferenceView {
        grade: difference.grade.name(),
        place: shown(&difference.place),
        expected: shown_value(&difference.expected),
        got: shown_value(&difference.got),
        rule: difference.rule.as_deref().map(RuleLink::new),
        dump: difference.hexdump.as_ref().map(|dump| DumpView {
            file: shown(&dump.file),
            offset: format!("{:#x}", dump.field_offset),
            size: dump.field_size,
            lines: hexdump::lines(dump).iter().map(line).collect(),
        }),
    }
}

/// Returns a line of a hexdump, split into runs of bytes inside and outside the field.
fn line(line: &Line) -> Value {
    json!({
        "offset": format!("{:08x}", line.offset),
        "numbers": runs(line, "  ", " ", |byte| format!("{byte:02x}")),
        "letters": runs(line, " ", "", |byte| Line::letter(byte).to_string()),
    })
}

/// Splits a line's bytes into runs inside and outside the field. A separator belongs to the field
/// if the bytes on both sides of it do.
fn runs(
    line: &Line,
    blank: &str,
    between: &str,
    text: impl Fn(u8) -> String,
) -> Vec<(bool, String)> {
    let mut runs: Vec<(bool, String)> = Vec::new();
    let mut push = |is_marked, text: &str| match runs.last_mut() {
        Some((marked, run)) if *marked == is_marked => run.push_str(text),
        _ => runs.push((is_marked, text.to_owned())),
    };
    let is_marked = |byte: Option<&Option<(u8, bool)>>| matches!(byte, Some(Some((_, true))));
    for (seq, byte) in line.bytes.iter().enumerate() {
        let own = is_marked(Some(byte));
        push(own, &byte.map_or(blank.to_owned(), |(byte, _)| text(byte)));
        push(own && is_marked(line.bytes.get(seq + 1)), between);
    }
    runs
}

impl Details {
    /// Estimates the size on the page in bytes, including escapes, hexdump lines and markup.
    fn size(&self) -> usize {
        const MARKUP: usize = 20;
        const LINE: usize = 140;
        let mut texts: Vec<&str> = vec![&self.note, &self.stderr];
        texts.extend(self.message.as_deref());
        texts.extend(self.notes.iter().map(String::as_str));
        let rules = self.rules.iter().map(|rule| rule.size() + 2 * MARKUP);
        let mut lines = 0;
        for difference in &self.differences {
            texts.extend(
                [&difference.place, &difference.expected, &difference.got].map(String::as_str),
            );
            lines += difference.dump.as_ref().map_or(0, |dump| dump.lines.len());
        }
        let texts = texts.into_iter().map(|text| escaped(text) + MARKUP);
        texts.sum::<usize>() + rules.sum::<usize>() + lines * LINE
    }
}

/// Returns the wire version in a case's name, such as 1 for `v1/iftr-004-one-bit-off`.
pub(super) fn wire(case: &str) -> Option<String> {
    let (wire, _) = case.strip_prefix('v')?.split_once('/')?;
    wire.parse::<u8>().ok().map(|wire| wire.to_string())
}
