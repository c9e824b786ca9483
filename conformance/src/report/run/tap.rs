//! TAP 14: a test point for each result, each refused testee, each fault of a failure list and each
//! pair of a writer and a reader.
//!
//! A failure that a failure list has is TAP's TODO: not ok, and expected.

use std::io::{self, Write};

use serde_json::Value;

use super::words;
use crate::report::Printable;
use crate::results::{CaseResult, Outcome, Results};

pub(super) fn write(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let refused = results.testees.iter().filter(|t| t.refused.is_some());
    let count = refused.count() + results.cases.len() + results.cross.len() + results.stale.len();
    let mut tap = Tap { out, seq: 0 };
    writeln!(tap.out, "TAP version 14")?;
    let editions = &results.editions;
    for (what, edition) in [
        ("kit", &editions.kit),
        ("spec", &editions.spec),
        ("rules", &editions.rules),
        ("corpus", &editions.corpus),
    ] {
        writeln!(tap.out, "# {what} {}", Printable(edition))?;
    }
    writeln!(tap.out, "1..{count}")?;
    for testee in &results.testees {
        if let Some(why) = &testee.refused {
            let title = format!("{} can be graded", Printable(&testee.name));
            tap.point(false, &title, None)?;
            tap.diagnostics(&[("message", Value::from(why.as_str()))])?;
        }
    }
    for case in &results.cases {
        tap.case(results, case)?;
    }
    for cross in &results.cross {
        let (writer, reader) = (
            words::name(results, cross.writer),
            words::name(results, cross.reader),
        );
        let title = format!("{reader} reads what {writer} writes");
        let directive = match (cross.passed, cross.failed.len()) {
            (0, 0) => Some(("SKIP", "nothing that both support")),
            _ => None,
        };
        tap.point(cross.failed.is_empty(), &title, directive)?;
        if !cross.failed.is_empty() {
            let failed = cross.failed.iter();
            let failed = failed.map(|(script, why)| (script.clone(), Value::from(why.as_str())));
            tap.diagnostics(&[("failed", Value::Object(failed.collect()))])?;
        }
    }
    for line in &results.stale {
        tap.point(false, "the failure list is up to date", None)?;
        tap.diagnostics(&[("message", Value::from(line.as_str()))])?;
    }
    Ok(())
}

struct Tap<'a> {
    out: &'a mut dyn Write,
    seq: usize,
}

impl Tap<'_> {
    fn case(&mut self, results: &Results, case: &CaseResult) -> io::Result<()> {
        let title = words::title(results, case);
        let Outcome::Failed { class, message, .. } = &case.outcome else {
            let directive = match &case.outcome {
                Outcome::Skipped { why } => Some(("SKIP", why.as_str())),
                _ => None,
            };
            return self.point(true, &title, directive);
        };
        let listed = case.listed.as_deref().map(|reason| ("TODO", reason));
        self.point(false, &title, listed)?;
        self.diagnostics(&[
            ("class", Value::from(class.name())),
            ("message", Value::from(message.as_str())),
            ("rules", Value::from(case.rules.clone())),
            ("details", Value::from(words::details(case))),
        ])
    }

    fn point(
        &mut self,
        is_ok: bool,
        title: &str,
        directive: Option<(&str, &str)>,
    ) -> io::Result<()> {
        self.seq += 1;
        let ok = if is_ok { "ok" } else { "not ok" };
        write!(self.out, "{ok} {} - {}", self.seq, escaped(title))?;
        match directive {
            Some((word, why)) => writeln!(
                self.out,
                " # {word} {}",
                escaped(&Printable(why).to_string())
            ),
            None => writeln!(self.out),
        }
    }

    /// A block of YAML, whose values are JSON, which is YAML too.
    fn diagnostics(&mut self, values: &[(&str, Value)]) -> io::Result<()> {
        writeln!(self.out, "  ---")?;
        for (key, value) in values {
            writeln!(self.out, "  {key}: {}", harmless(value))?;
        }
        writeln!(self.out, "  ...")
    }
}

/// In a description `#` begins a directive, and `\` escapes.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('#', "\\#")
}

/// JSON in one line, where what could steer a terminal is written as JSON escapes it.
fn harmless(value: &Value) -> String {
    let mut out = String::new();
    for letter in value.to_string().chars() {
        let text = Printable(letter).to_string();
        match text.starts_with("\\u{") {
            true => out.push_str(&format!("\\u{:04x}", u32::from(letter))),
            false => out.push_str(&text),
        }
    }
    out
}
