//! The JUnit XML report, with a suite per implementation and role, and a test case per result.
//!
//! A missing answer is an error, and a wrong answer is a failure. JUnit has no status for known
//! failures, so they are reported as skipped, with their reasons, as other tools do.

use std::io::{self, Write};
use std::time::Duration;

use super::tally::{Tally, columns};
use super::{verdict, words};
use crate::cause::{Cause, Causes};
use crate::results::{CaseResult, CrossResult, Failure, Outcome, Results, State};
use atf_report::junit::{self, Counts};
use atf_report::xml::{Attribute, Text};

pub(super) fn write(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let refused = results.refused().count();
    let pairs = counts_of_pairs(results);
    let mut counts = self::counts(&results.cases);
    counts.tests += pairs.tests + results.stale.len() + refused;
    counts.failures += pairs.failures + results.stale.len();
    counts.errors += refused;
    counts.skipped += pairs.skipped;
    junit::start(counts, Some(results.elapsed.as_secs_f64()), out)?;
    let causes = Causes::new(&results.cases);
    for column in columns(results) {
        let of_column = |case: &&CaseResult| (case.testee, case.role) == column;
        let cases: Vec<_> = results.cases.iter().filter(of_column).collect();
        suite(results, &causes, &cases, out)?;
    }
    refusals(results, out)?;
    cross(results, out)?;
    stale(results, out)?;
    junit::end(out)
}

fn suite(
    results: &Results,
    causes: &Causes<'_>,
    cases: &[&CaseResult],
    out: &mut dyn Write,
) -> io::Result<()> {
    let Some(first) = cases.first() else {
        return Ok(());
    };
    let testee = words::name(results, first.testee);
    let name = format!("{testee} {}", first.role.name());
    let counts = self::counts(cases.iter().copied());
    let time: Duration = cases.iter().map(|case| case.elapsed).sum();
    let time = time.as_secs_f64();
    writeln!(
        out,
        r#"  <testsuite name="{}" {counts} time="{time:.3}">"#,
        Attribute(&name)
    )?;
    let version = results.testees.get(first.testee);
    let version = version.map_or("", |testee| &testee.version);
    let scores = verdict::graded(results, cases.iter().copied());
    let graded_by = results.editions.all();
    let properties = graded_by.into_iter().chain([("scores", scores.as_str())]);
    junit::properties(Some(version), &properties.collect::<Vec<_>>(), out)?;
    for case in cases {
        let time = case.elapsed.as_secs_f64();
        let (class, case_name) = (Attribute(&name), Attribute(&case.case));
        write!(
            out,
            r#"    <testcase classname="{class}" name="{case_name}" time="{time:.3}""#
        )?;
        match case.state() {
            State::Passed => writeln!(out, "/>")?,
            State::Skipped | State::Known | State::Failed => {
                writeln!(out, ">")?;
                result(causes, case, out)?;
                writeln!(out, "    </testcase>")?;
            }
        }
    }
    writeln!(out, "  </testsuite>")
}

fn result(causes: &Causes<'_>, case: &CaseResult, out: &mut dyn Write) -> io::Result<()> {
    let (class, message) = match &case.outcome {
        Outcome::Passed => return Ok(()),
        Outcome::Skipped { why } => {
            return writeln!(out, r#"      <skipped message="{}"/>"#, Attribute(why));
        }
        Outcome::Failed { class, .. } => (class, words::failure(case).unwrap_or_default()),
    };
    if let Some(Cause { id, .. }) = causes.of(case) {
        let id = Attribute(&id);
        writeln!(
            out,
            r#"      <properties><property name="atf.cause" value="{id}"/></properties>"#
        )?;
    }
    if let Some(reason) = &case.listed {
        let message = format!("known failure, {message} ({reason})");
        return writeln!(out, r#"      <skipped message="{}"/>"#, Attribute(message));
    }
    let tag = if class.is_broken() {
        "error"
    } else {
        "failure"
    };
    let details = words::details(causes, case).join("\n");
    let message = Attribute(message);
    let (kind, details) = (class.name(), Text(&details));
    writeln!(
        out,
        r#"      <{tag} type="{kind}" message="{message}">{details}</{tag}>"#
    )?;
    if !case.stderr.is_empty() {
        writeln!(out, "      <system-err>{}</system-err>", Text(&case.stderr))?;
    }
    Ok(())
}

fn refusals(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    for (_, testee, why) in results.refused() {
        let (name, why) = (Attribute(&testee.name), Attribute(why));
        writeln!(
            out,
            r#"  <testsuite name="{name}" tests="1" failures="0" errors="1" skipped="0">
    <testcase classname="{name}" name="can be graded"><error type="refused" message="{why}"/></testcase>
  </testsuite>"#
        )?;
    }
    Ok(())
}

fn cross(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    if results.cross.is_empty() {
        return Ok(());
    }
    let counts = counts_of_pairs(results);
    writeln!(out, r#"  <testsuite name="writers and readers" {counts}>"#)?;
    for cross in &results.cross {
        let name = Attribute(words::pair_title(results, cross));
        write!(
            out,
            r#"    <testcase classname="writers and readers" name="{name}">"#
        )?;
        if is_skipped(cross) {
            write!(out, r#"<skipped message="nothing supported by both"/>"#)?;
        } else if !cross.failed.is_empty() {
            let lines = cross.failed.iter();
            let lines = lines.map(|(script, why)| format!("{script}: {why}"));
            let lines = lines.collect::<Vec<_>>().join("\n");
            let count = cross.failed.len();
            let text = Text(&lines);
            write!(
                out,
                r#"<failure type="cross" message="{count} scripts">{text}</failure>"#
            )?;
        }
        writeln!(out, "</testcase>")?;
    }
    writeln!(out, "  </testsuite>")
}

fn counts_of_pairs(results: &Results) -> Counts {
    let skipped = results.cross.iter().filter(|cross| is_skipped(cross));
    Counts {
        tests: results.cross.len(),
        failures: results.misread().count(),
        errors: 0,
        skipped: skipped.count(),
    }
}

const fn is_skipped(cross: &CrossResult) -> bool {
    Tally::of_pair(cross).graded() == 0
}

fn stale(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    if results.stale.is_empty() {
        return Ok(());
    }
    let count = results.stale.len();
    writeln!(
        out,
        r#"  <testsuite name="failure lists" tests="{count}" failures="{count}" errors="0" skipped="0">"#
    )?;
    for line in &results.stale {
        let line = Attribute(line);
        writeln!(
            out,
            r#"    <testcase classname="failure lists" name="{line}"><failure type="stale" message="{line}"/></testcase>"#
        )?;
    }
    writeln!(out, "  </testsuite>")
}

fn counts<'a>(cases: impl IntoIterator<Item = &'a CaseResult> + Clone) -> Counts {
    let broken = cases.clone().into_iter().filter(|case| {
        let is_broken = case.outcome.class().is_some_and(Failure::is_broken);
        is_broken && case.state() == State::Failed
    });
    let errors = broken.count();
    let tally = Tally::count(cases.clone());
    let count = |number| usize::try_from(number).unwrap_or(usize::MAX);
    Counts {
        tests: cases.into_iter().count(),
        failures: count(tally.failed).saturating_sub(errors),
        errors,
        skipped: count(tally.skipped + tally.known),
    }
}
