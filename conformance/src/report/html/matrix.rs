//! Builds two tables: rules by implementation, and writers by reader.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::charge;
use crate::report::tally::{Column, Tally, columns, matrix};
use crate::report::words;
use crate::results::{CaseResult, CrossResult, Results, State};
use crate::rules;
use atf_report::html::shown;

/// Returns the cases' rules, grouped as in the spec, with unknown rules last.
pub(super) fn groups(results: &Results) -> Vec<Value> {
    let by_rule = matrix(results, CaseResult::by_rule);
    let failures = first_failures(results);
    let columns = columns(results);
    let titles = rules::GROUPS.iter().map(|(_, title)| *title);
    let titles = titles.chain(["Misread fields, and failures without a rule"]);
    let mut groups: Vec<(_, Vec<_>)> = titles.map(|title| (title, Vec::new())).collect();
    for id in by_rule.keys().copied() {
        let mut prefixes = rules::GROUPS.iter().map(|(prefix, _)| prefix);
        let group = prefixes.position(|prefix| id.starts_with(prefix));
        if let Some((_, ids)) = groups.get_mut(group.unwrap_or(rules::GROUPS.len())) {
            ids.push(id);
        }
    }
    groups.retain(|(_, ids)| !ids.is_empty());
    let view = |id: &str| {
        let empty = BTreeMap::new();
        let row = by_rule.get(id).unwrap_or(&empty);
        let (sentence, severity) = match rules::find(id) {
            Some(rule) => (rule.rule.to_owned(), rule.severity.name()),
            None => (charge::sentence(id).unwrap_or_default(), ""),
        };
        let cells = columns.iter().map(|column| {
            let failure = failures.get(&(id, *column)).copied();
            cell(results, id, *column, row, failure)
        });
        json!({
            "id": shown(id),
            "rule": sentence,
            "severity": severity,
            "cells": cells.collect::<Value>(),
        })
    };
    let groups = groups.into_iter().map(|(title, ids)| {
        let rules: Value = ids.into_iter().map(view).collect();
        json!({"title": title, "rules": rules})
    });
    groups.collect()
}

/// Finds the first failure of each rule and column, preferring unexpected ones.
fn first_failures(results: &Results) -> BTreeMap<(&str, Column), usize> {
    let mut first = BTreeMap::new();
    for state in [State::Failed, State::Known] {
        for (seq, case) in results.cases.iter().enumerate() {
            if case.state() == state {
                for rule in case.blamed() {
                    let key = (rule, (case.testee, case.role));
                    first.entry(key).or_insert(seq);
                }
            }
        }
    }
    first
}

fn cell(
    results: &Results,
    rule: &str,
    (testee, role): Column,
    row: &BTreeMap<Column, Tally>,
    failure: Option<usize>,
) -> Value {
    let tally = row.get(&(testee, role)).copied().unwrap_or_default();
    let (state, text, words) = texts(tally);
    let name = shown(&words::name(results, testee));
    json!({
        "state": state,
        "text": text,
        // The cell's text for screen readers.
        "label": format!("{name} {}, {}: {words}", role.name(), shown(rule)),
        "testee": testee,
        "role": role.name(),
        // The number of the first failure, which the cell links to.
        "failure": failure,
    })
}

/// Returns a cell's class, its text and its label.
fn texts(tally: Tally) -> (&'static str, String, String) {
    let Tally {
        passed,
        failed,
        known,
        skipped,
    } = tally;
    let graded = tally.graded();
    match tally.worst() {
        None => ("none", String::new(), "no case".to_owned()),
        Some(State::Skipped) => ("skipped", "–".to_owned(), format!("all {skipped} skipped")),
        Some(State::Passed) => (
            "passed",
            format!("✓ {passed}"),
            format!("all {passed} passed"),
        ),
        Some(State::Known) => {
            let words = format!("{known} known failures of {graded}");
            ("known", format!("~ {passed}/{graded}"), words)
        }
        Some(State::Failed) => {
            let words = format!("{failed} failed of {graded}");
            ("failed", format!("✗ {passed}/{graded}"), words)
        }
    }
}

/// Returns the matrix of writers by reader, or `None` if there are no pairs.
pub(super) fn cross(results: &Results) -> Option<Value> {
    let pairs = &results.cross;
    if pairs.is_empty() {
        return None;
    }
    let readers: BTreeSet<_> = pairs.iter().map(|pair| pair.reader).collect();
    let writers: BTreeSet<_> = pairs.iter().map(|pair| pair.writer).collect();
    let name = |testee: usize| shown(&words::name(results, testee));
    let row = |writer: usize| {
        let cells = readers.iter().map(|reader| {
            let mut pairs = pairs.iter().enumerate();
            let found = pairs.find(|(_, pair)| (pair.writer, pair.reader) == (writer, *reader));
            cross_cell(found, &name(writer), &name(*reader))
        });
        json!({"name": name(writer), "cells": cells.collect::<Value>()})
    };
    let failed = |(seq, pair): (usize, &CrossResult)| {
        let scripts = pair.failed.iter();
        let scripts = scripts.map(|(script, why)| json!([shown(script), shown(why)]));
        (!pair.failed.is_empty()).then(|| {
            json!({
                "seq": seq,
                "writer": name(pair.writer),
                "reader": name(pair.reader),
                "scripts": scripts.collect::<Value>(),
            })
        })
    };
    Some(json!({
        "failed": pairs.iter().enumerate().filter_map(failed).collect::<Value>(),
        "writers": writers.iter().map(|writer| row(*writer)).collect::<Value>(),
        "readers": readers.iter().map(|reader| name(*reader)).collect::<Value>(),
    }))
}

fn cross_cell(pair: Option<(usize, &CrossResult)>, writer: &str, reader: &str) -> Value {
    let tally = pair.map(|(_, pair)| Tally::of_pair(pair));
    let (state, text, words) = texts(tally.unwrap_or_default());
    let failed = pair.filter(|(_, pair)| !pair.failed.is_empty());
    json!({
        "state": state,
        "text": text,
        "label": format!("{reader} reads what {writer} writes: {words}"),
        // The position of the writer–reader pair on the page, if the pair failed.
        "pair": failed.map(|(seq, _)| seq),
    })
}
