//! The content of the page, from top to bottom.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Value, json};

use super::cause::{CauseView, causes};
use super::failure::wire;
use super::matrix::{cross, groups};
use super::rule::named;
use crate::report::tally::{Column, Scores, Tally, columns, share};
use crate::report::{summary, verdict, words};
use crate::results::{CaseResult, Made, Outcome, Results, State, Testee};
use atf_report::html::{shown, shown_value};

#[derive(Serialize)]
pub(super) struct Page {
    is_good: bool,
    headline: String,
    tally: Tally,
    editions: Vec<(&'static str, String)>,
    seconds: String,
    scores: String,
    testees: Vec<Value>,
    stale: Vec<String>,
    columns: Vec<Value>,
    groups: Vec<Value>,
    cross: Option<Value>,
    causes: Vec<CauseView>,
    results: Vec<Value>,
    roles: BTreeSet<&'static str>,
    wires: BTreeSet<String>,
    rules: BTreeSet<String>,
    /// The full text of each rule that a failure mentions.
    texts: Vec<Value>,
    made: Option<Made>,
}

impl Page {
    pub(super) fn new(results: &Results) -> Self {
        let tally = Tally::count(&results.cases);
        let editions = results.editions.all();
        let cases = &results.cases;
        let column = |(testee, role): Column| {
            let name = shown(&words::name(results, testee));
            json!({"name": name, "role": role.name()})
        };
        Self {
            is_good: verdict::is_good(results),
            headline: verdict::headline(results),
            tally,
            editions: editions.map(|(of, version)| (of, shown(version))).into(),
            seconds: format!("{:.1}", results.elapsed.as_secs_f64()),
            scores: verdict::graded(results, cases),
            testees: { results.testees.iter().enumerate() }
                .map(|(seq, it)| testee(results, seq, it))
                .collect(),
            stale: results.stale.iter().map(|line| shown(line)).collect(),
            columns: columns(results).into_iter().map(column).collect(),
            groups: groups(results),
            cross: cross(results),
            causes: causes(results),
            results: cases
                .iter()
                .enumerate()
                .map(|(seq, case)| result(results, seq, case))
                .collect(),
            roles: cases.iter().map(|case| case.role.name()).collect(),
            wires: cases.iter().filter_map(|case| wire(&case.case)).collect(),
            rules: cases
                .iter()
                .flat_map(|case| &case.rules)
                .map(|rule| shown(rule))
                .collect(),
            texts: named(results),
            made: results.made.as_ref().map(|made| Made {
                at: shown(&made.at),
                system: shown(&made.system),
                command: shown_value(&made.command),
            }),
        }
    }
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
