//! Builds two tables: rules by implementation, and writers by reader.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::charge;
use crate::report::tally::{Column, Tally, columns, matrix};
use crate::report::words;
use crate::results::{CaseResult, CrossResult, Results, State};
use crate::rules;
use atf_report::html::shown;

/// A group of rules with a common prefix.
#[derive(Serialize)]
pub(super) struct GroupView {
    title: String,
    rules: Vec<RuleView>,
}

#[derive(Serialize)]
struct RuleView {
    id: String,
    rule: String,
    severity: &'static str,
    cells: Vec<CellView>,
}

#[derive(Serialize)]
struct CellView {
    state: &'static str,
    text: String,
    /// The cell's text for screen readers.
    label: String,
    testee: usize,
    role: &'static str,
    /// The number of the first failure, which the cell links to.
    failure: Option<usize>,
}

#[derive(Serialize)]
pub(super) struct CrossView {
    readers: Vec<String>,
    writers: Vec<WriterView>,
    failed: Vec<PairView>,
}

#[derive(Serialize)]
struct WriterView {
    name: String,
    cells: Vec<CrossCell>,
}

#[derive(Serialize)]
struct CrossCell {
    state: &'static str,
    text: String,
    label: String,
    /// The position of the writer–reader pair on the page, if the pair failed.
    pair: Option<usize>,
}

#[derive(Serialize)]
struct PairView {
    seq: usize,
    writer: String,
    reader: String,
    scripts: Vec<(String, String)>,
}

/// Returns the cases' rules, grouped as in the spec, with unknown rules last.
pub(super) fn groups(results: &Results) -> Vec<GroupView> {
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
        let found = rules::find(id);
        RuleView {
            id: shown(id),
            rule: found.map_or_else(
                || charge::sentence(id).unwrap_or_default(),
                |rule| rule.rule.to_owned(),
            ),
            severity: found.map_or("", |rule| rule.severity.name()),
            cells: columns
                .iter()
                .map(|column| {
                    let failure = failures.get(&(id, *column)).copied();
                    cell(results, id, *column, row, failure)
                })
                .collect(),
        }
    };
    groups
        .into_iter()
        .map(|(title, ids)| GroupView {
            title: title.to_owned(),
            rules: ids.into_iter().map(view).collect(),
        })
        .collect()
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
) -> CellView {
    let tally = row.get(&(testee, role)).copied().unwrap_or_default();
    let (state, text, words) = texts(tally);
    let name = shown(&words::name(results, testee));
    CellView {
        state,
        text,
        label: format!("{name} {}, {}: {words}", role.name(), shown(rule)),
        testee,
        role: role.name(),
        failure,
    }
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
pub(super) fn cross(results: &Results) -> Option<CrossView> {
    let pairs = &results.cross;
    if pairs.is_empty() {
        return None;
    }
    let readers: BTreeSet<_> = pairs.iter().map(|pair| pair.reader).collect();
    let writers: BTreeSet<_> = pairs.iter().map(|pair| pair.writer).collect();
    let name = |testee: usize| shown(&words::name(results, testee));
    let row = |writer: usize| WriterView {
        name: name(writer),
        cells: readers
            .iter()
            .map(|reader| {
                let mut pairs = pairs.iter().enumerate();
                let found = pairs.find(|(_, pair)| (pair.writer, pair.reader) == (writer, *reader));
                cross_cell(found, &name(writer), &name(*reader))
            })
            .collect(),
    };
    let failed = pairs
        .iter()
        .enumerate()
        .filter(|(_, pair)| !pair.failed.is_empty());
    Some(CrossView {
        failed: failed
            .map(|(seq, pair)| PairView {
                seq,
                writer: name(pair.writer),
                reader: name(pair.reader),
                scripts: pair
                    .failed
                    .iter()
                    .map(|(script, why)| (shown(script), shown(why)))
                    .collect(),
            })
            .collect(),
        writers: writers.iter().map(|writer| row(*writer)).collect(),
        readers: readers.iter().map(|reader| name(*reader)).collect(),
    })
}

fn cross_cell(pair: Option<(usize, &CrossResult)>, writer: &str, reader: &str) -> CrossCell {
    let tally = pair.map(|(_, pair)| Tally::of_pair(pair));
    let (state, text, words) = texts(tally.unwrap_or_default());
    CrossCell {
        state,
        text,
        label: format!("{reader} reads what {writer} writes: {words}"),
        pair: pair
            .filter(|(_, pair)| !pair.failed.is_empty())
            .map(|(seq, _)| seq),
    }
}
