//! Shows a failure on the page: the purpose of its case, the differences and the implementation's
//! standard error.

use serde::Serialize;

use super::rule::RuleLink;
use crate::report::hexdump::{self, Line};
use crate::report::words;
use crate::results::{CaseResult, Difference, Failure, Outcome, Results};
use atf_report::html::{escaped, shown, shown_value};
use atf_report::{Printable, clipped};

/// The maximum number of characters of standard error to show. The JSON report contains all of it.
const STDERR_LETTERS: usize = 4000;

/// The number of bytes of details that still fit on the page. Once this reaches 0, the page shows a
/// note instead of the details of the remaining failures.
#[derive(Debug)]
pub(super) struct Budget(usize);

impl Budget {
    pub(super) const WHOLE: Self = Self(2_000_000);

    /// Reserves a part's estimated size and returns whether the part fits.
    fn take(&mut self, bytes: usize) -> bool {
        let rest = self.0.checked_sub(bytes);
        self.0 = rest.unwrap_or(0);
        rest.is_some()
    }
}

#[derive(Serialize)]
pub(super) struct FailureView {
    seq: usize,
    state: &'static str,
    testee: usize,
    name: String,
    role: &'static str,
    case: String,
    wire: Option<String>,
    class: &'static str,
    message: String,
    listed: Option<String>,
    /// The ids of the case's rules, for the filters.
    rules: String,
    details: Option<Details>,
    /// Whether `corpus show` can show the case's files.
    is_in_corpus: bool,
}

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
    lines: Vec<LineView>,
}

/// A hexdump line, split into runs of bytes inside and outside the field.
#[derive(Serialize)]
struct LineView {
    offset: String,
    numbers: Vec<(bool, String)>,
    letters: Vec<(bool, String)>,
}

impl FailureView {
    pub(super) fn new(
        results: &Results,
        seq: usize,
        case: &CaseResult,
        budget: &mut Budget,
    ) -> Self {
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
        Self {
            seq,
            state: case.state().name(),
            testee: case.testee,
            name: shown(&words::name(results, case.testee)),
            role: case.role.name(),
            case: shown(&case.case),
            wire: wire(&case.case),
            class: case.outcome.class().map_or("", Failure::name),
            message: line,
            listed: case.listed.as_deref().map(shown),
            rules: shown(&case.rules.join(" ")),
            details: budget.take(details.size()).then_some(details),
            is_in_corpus: case.role.reads(),
        }
    }
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

fn line(line: &Line) -> LineView {
    LineView {
        offset: format!("{:08x}", line.offset),
        numbers: runs(line, "  ", " ", |byte| format!("{byte:02x}")),
        letters: runs(line, " ", "", |byte| Line::letter(byte).to_string()),
    }
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
