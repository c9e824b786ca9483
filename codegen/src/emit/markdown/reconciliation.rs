//! The page on sources and decisions.

use atf_spec::model::{DecisionKind, Silence, SourceFile};
use atf_spec::reconcile::{Claim, Disagreement, Group, How, Key};
use atf_spec::yaml::At;
use serde_json::{Value, json};

use super::Book;
use super::links::{self, Link};
use super::settled::{self, Agreed, ByWire};

pub(super) fn page(book: &Book<'_>) -> Value {
    let count = |kind| {
        let of_kind = book.decisions.iter().filter(|group| group.kind() == kind);
        of_kind.count()
    };
    let silences = book.spec.decisions.silences.iter();
    let agreed = settled::agreed(book).into_iter();
    json!({
        "sources": book.spec.sources.iter().map(source).collect::<Vec<_>>(),
        "claims": book.found.claims.values().map(Vec::len).sum::<usize>(),
        "disagreements": book.found.disagreements.len(),
        "conflicts": count(DecisionKind::Conflict),
        "splits": count(DecisionKind::Split),
        "parts": parts(book),
        "silences": silences.map(|it| silence(book, it)).collect::<Vec<_>>(),
        "agreed": agreed.map(|it| answer(book, &it)).collect::<Vec<_>>(),
    })
}

fn source(source: &SourceFile) -> Value {
    json!({
        "id": source.source,
        "title": source.title,
        "document": source.document,
        "about": source.about,
        "wire": source.wire,
    })
}

/// Groups the decisions under the titles of their records or other subjects.
fn parts(book: &Book<'_>) -> Vec<Value> {
    let mut parts: Vec<(&str, Vec<Value>)> = Vec::new();
    for group in &book.decisions {
        let at = group.settlement.at.as_str();
        let record = at.split_once('.').map_or(at, |(record, _)| record);
        let title = match book.spec.record(record) {
            Some(record) => record.title.as_str(),
            None if book.spec.topic(at).is_some() => "Beyond the layouts",
            None => "Enumerations",
        };
        let decision = decision(book, group);
        match parts.last_mut().filter(|(known, _)| *known == title) {
            Some((_, decisions)) => decisions.push(decision),
            None => parts.push((title, vec![decision])),
        }
    }
    let part = |(title, decisions)| json!({ "title": title, "decisions": decisions });
    parts.into_iter().map(part).collect()
}

fn decision(book: &Book<'_>, group: &Group<'_>) -> Value {
    let (at, decision) = (&group.settlement.at, &group.settlement.decision);
    let topic = book.spec.topic(at);
    let keys = group.disagreements.iter();
    let keys = keys.map(|found| found.key.to_string());
    let anchors = keys.chain(topic.map(|topic| topic.topic.value.clone()));
    let terms = topic.into_iter().flat_map(|topic| topic.terms.iter());
    let tables = group.disagreements.iter().map(|found| table(book, found));
    json!({
        "anchors": anchors.collect::<Vec<_>>(),
        "title": decision.title,
        "kind": group.kind().name(),
        "at": links::subject(book.spec, at),
        "question": topic.map(|topic| &topic.question),
        // The stances on a topic, with their meanings.
        "terms": terms.collect::<Vec<_>>(),
        "reason": decision.reason,
        "confidence": decision.confidence.name(),
        "disagreements": tables.collect::<Vec<_>>(),
    })
}

/// Returns the claims of one disagreement, and the decided value.
fn table(book: &Book<'_>, found: &Disagreement) -> Value {
    let outcome = settled::outcome(book, found).into_iter();
    let outcome = outcome.map(|one| ByWire {
        value: shown(&found.key, &one.value),
        ..one
    });
    let claims = found.claims.iter();
    json!({
        "key": found.key.to_string(),
        "outcome": outcome.collect::<Vec<_>>(),
        "has_words": claims.clone().any(|claim| claim.says.is_some()),
        "claims": claims.map(|claim| row(&found.key, claim)).collect::<Vec<_>>(),
    })
}

/// Formats a value for the pages, in hexadecimal if it means "none".
fn shown(key: &Key, value: &str) -> String {
    match value.parse::<u64>() {
        Ok(number) if key.property == "none" => format!("0x{number:X}"),
        _ => value.to_owned(),
    }
}

fn row(key: &Key, claim: &Claim) -> Value {
    json!({
        "source": claim.source,
        // How the source makes the claim, unless it states the value directly.
        "verb": (claim.how != How::States).then(|| claim.how.verb()),
        "value": (claim.how != How::Omits).then(|| shown(key, &claim.value)),
        "section": claim.section,
        "says": claim.says,
    })
}

fn silence(book: &Book<'_>, silence: &Silence) -> Value {
    let tests = silence.tested_by.iter().map(|test| test.as_str());
    let (rules, tests): (Vec<&str>, Vec<&str>) =
        tests.partition(|test| book.spec.rule(test).is_some());
    json!({
        "name": silence.silence,
        "question": silence.question,
        "about": about(book, &silence.about),
        "decision": silence.decision,
        "reason": silence.reason,
        "confidence": silence.confidence.name(),
        // The rules and the tests in the repository that verify the decision.
        "rules": rules.into_iter().map(links::rule).collect::<Vec<_>>(),
        "tests": tests,
    })
}

/// Returns a topic on which the sources agree.
fn answer(book: &Book<'_>, agreed: &Agreed<'_>) -> Value {
    json!({
        "name": agreed.topic.topic,
        "question": agreed.topic.question,
        "answer": agreed.answer,
        "sources": agreed.sources,
        "about": about(book, &agreed.topic.about),
    })
}

fn about(book: &Book<'_>, names: &[At<String>]) -> Vec<Link> {
    let links = names.iter().map(|name| links::subject(book.spec, name));
    links.collect()
}
