//! The TAP 14 report, with a test point for each result, refused implementation, writer–reader
//! pair, and problem in a failure list.
//!
//! A known failure becomes a TODO, which is TAP's term for an expected failure.

use std::io::{self, Write};

use serde_json::Value;

use super::tally::Tally;
use super::{verdict, words};
use crate::cause::Causes;
use crate::results::{CaseResult, Grade, Outcome, Results};
use atf_report::Printable;
use atf_report::tap::Tap;

pub(super) fn write(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let count =
        results.refused().count() + results.cases.len() + results.cross.len() + results.stale.len();
    let mut tap = Tap::new(out, &results.editions.all())?;
    tap.comment(&verdict::graded(results, &results.cases))?;
    tap.plan(count)?;
    for (_, testee, why) in results.refused() {
        let title = format!("{} can be graded", Printable(&testee.name));
        tap.point(false, &title, None)?;
        tap.diagnostics(&[("message", Value::from(why))])?;
    }
    let causes = Causes::new(&results.cases);
    for case in &results.cases {
        self::case(results, &causes, case, &mut tap)?;
    }
    for cross in &results.cross {
        let title = words::pair_title(results, cross);
        let is_skipped = Tally::of_pair(cross).graded() == 0;
        let directive = is_skipped.then_some(("SKIP", "nothing supported by both"));
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

fn case(
    results: &Results,
    causes: &Causes<'_>,
    case: &CaseResult,
    tap: &mut Tap<&mut dyn Write>,
) -> io::Result<()> {
    let title = words::title(results, case);
    let Outcome::Failed { class, message, .. } = &case.outcome else {
        let directive = match &case.outcome {
            Outcome::Skipped { why } => Some(("SKIP", why.as_str())),
            _ => None,
        };
        return tap.point(true, &title, directive);
    };
    let listed = case.listed.as_deref().map(|reason| ("TODO", reason));
    tap.point(false, &title, listed)?;
    tap.diagnostics(&[
        ("class", Value::from(class.name())),
        ("cause", Value::from(causes.of(case).map(|cause| cause.id))),
        ("data", Value::from(case.score(Grade::Data).name())),
        ("label", Value::from(case.score(Grade::Label).name())),
        ("message", Value::from(message.as_str())),
        ("rules", Value::from(case.rules.clone())),
        ("details", Value::from(words::details(causes, case))),
    ])
}
