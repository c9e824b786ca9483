//! The page of a run.

mod failure;
mod matrix;
mod rule;

use std::collections::BTreeSet;
use std::io::{self, Write};

use serde_json::{Value, json};

use super::tally::{Column, Scores, Tally, columns, share};
use super::{summary, verdict, words};
use crate::results::{CaseResult, Outcome, Results, State, Testee};
use atf_report::html::{self, shown, shown_value};
use failure::{causes, wire};
use matrix::{cross, groups};
use rule::named;

const TEMPLATE: &str = include_str!("../../../templates/run.html");

pub(super) fn write(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    html::write(TEMPLATE, page(results), out)
}

/// Returns the content of the page, from top to bottom.
fn page(results: &Results) -> Value {
    let cases = &results.cases;
    let editions = results.editions.all();
    let testees = results.testees.iter().enumerate();
    let testees = testees.map(|(seq, it)| testee(results, seq, it));
    let column = |(testee, role): Column| {
        let name = shown(&words::name(results, testee));
        json!({"name": name, "role": role.name()})
    };
    let rows = cases.iter().enumerate();
    let rows = rows.map(|(seq, case)| result(results, seq, case));
    let roles: BTreeSet<_> = cases.iter().map(|case| case.role.name()).collect();
    let wires: BTreeSet<_> = cases.iter().filter_map(|case| wire(&case.case)).collect();
    let rules = cases.iter().flat_map(|case| &case.rules);
    let rules: BTreeSet<_> = rules.map(|rule| shown(rule)).collect();
    let made = results.made.as_ref().map(|made| {
        json!({
            "at": shown(&made.at),
            "system": shown(&made.system),
            "command": shown_value(&made.command),
        })
    });
    json!({
        "is_good": verdict::is_good(results),
        "headline": verdict::headline(results),
        "tally": Tally::count(cases),
        "editions": editions.map(|(of, version)| (of, shown(version))),
        "seconds": format!("{:.1}", results.elapsed.as_secs_f64()),
        "scores": verdict::graded(results, cases),
        "testees": testees.collect::<Value>(),
        "stale": results.stale.iter().map(|line| shown(line)).collect::<Value>(),
        "columns": columns(results).into_iter().map(column).collect::<Value>(),
        "groups": groups(results),
        "cross": cross(results),
        "causes": causes(results),
        "results": rows.collect::<Value>(),
        "roles": roles,
        "wires": wires,
        "rules": rules,
        // The full text of each rule that a failure mentions.
        "texts": named(results),
        "made": made,
    })
}

fn testee(results: &Results, seq: usize, testee: &Testee) -> Value {
    let cases = results.cases_of(seq);
    let wires: Vec<_> = testee.wire.iter().map(ToString::to_string).collect();
    let roles: Vec<_> = testee.roles.iter().map(|role| role.name()).collect();
    // Link to the home page only if its URL in the manifest is a web address.
    let is_page = |url: &&String| url.starts_with("https://") || url.starts_with("http://");
    json!({
        "name": shown(&testee.name),
        "version": shown(&testee.version),
        "url": testee.url.as_ref().filter(is_page),
        "roles": roles.join(", "),
        "wire": wires.join(", "),
        "features": shown(&testee.features.join(", ")),
        "refused": testee.refused.as_deref().map(shown),
        // The share of the cases that was graded, in percent.
        "share": share(cases.clone()),
        "crash": summary::worst_crash(cases.clone()).map(|crash| shown(&crash)),
        "tally": Tally::count(cases.clone()),
        "scores": Scores::count(cases),
    })
}

/// Returns a row of the results table.
fn result(results: &Results, seq: usize, case: &CaseResult) -> Value {
    let state = case.state();
    let is_failure = matches!(state, State::Failed | State::Known);
    let why = match &case.outcome {
        Outcome::Passed => shown(&words::notes(case).join("; ")),
        Outcome::Skipped { why } => shown(why),
        Outcome::Failed { class, .. } => class.name().to_owned(),
    };
    json!({
        "state": state.name(),
        "testee": case.testee,
        "name": shown(&words::name(results, case.testee)),
        "role": case.role.name(),
        "case": shown(&case.case),
        "wire": wire(&case.case),
        "rules": shown(&case.rules.join(" ")),
        "milliseconds": format!("{:.0}", case.elapsed.as_secs_f64() * 1000.0),
        // The number of the result's failure on the page.
        "failure": is_failure.then_some(seq),
        "why": why,
    })
}
