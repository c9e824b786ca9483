//! The page on sources and decisions, and what other pages show of them.

use std::collections::BTreeSet;

use atf_spec::layout::Wire;
use atf_spec::model::{DecisionKind, Silence, SourceFile, Topic};
use atf_spec::reconcile::{Claim, Disagreement, Group, How, Key};
use atf_spec::yaml::At;
use serde::Serialize;
use serde_json::{Value, json};

use super::Book;
use super::links::{self, Link};

pub(super) fn page(book: &Book<'_>) -> Value {
    let count = |kind| {
        let of_kind = book.decisions.iter().filter(|group| group.kind() == kind);
        of_kind.count()
    };
    let silences = book.spec.decisions.silences.iter();
    let agreed = agreed(book).into_iter();
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
    let wires = book.layout.wires.iter();
    let outcome = wires.filter_map(|wire| {
        let value = found.outcome(book.spec, *wire)?;
        Some((*wire, shown(&found.key, &value)))
    });
    let claims = found.claims.iter();
    json!({
        "key": found.key.to_string(),
        "outcome": by_wire(outcome),
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

/// Returns a link to a decision on this page.
pub(super) fn link(group: &Group<'_>) -> Link {
    let href = links::topic(&group.disagreements[0].key.to_string()).href;
    Link::new(&group.settlement.decision.title, href)
}

/// Like [`link`], but under the kind of the decision.
pub(super) fn link_by_kind(group: &Group<'_>) -> Link {
    Link::new(group.kind().name(), link(group).href)
}

/// Returns whether a decision settles a disagreement about this subject.
pub(super) fn settles(group: &Group<'_>, is_subject: impl Fn(&str) -> bool) -> bool {
    let mut keys = group.disagreements.iter();
    keys.any(|found| is_subject(&found.key.subject))
}

/// A value and the wire versions that have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct ByWire {
    value: String,
    wires: Vec<Wire>,
}

/// Groups wire versions by value.
pub(super) fn by_wire(values: impl Iterator<Item = (Wire, String)>) -> Vec<ByWire> {
    let mut all: Vec<ByWire> = Vec::new();
    for (wire, value) in values {
        match all.iter_mut().find(|known| known.value == value) {
            Some(known) => known.wires.push(wire),
            None => all.push(ByWire {
                value,
                wires: vec![wire],
            }),
        }
    }
    all
}

/// A topic on which all claims agree.
pub(super) struct Agreed<'a> {
    pub(super) topic: &'a Topic,
    /// The sources' common answer, in the topic's words.
    pub(super) answer: &'a str,
    /// The sources that gave this answer.
    sources: BTreeSet<&'a str>,
}

/// Returns the topics on which the sources agree, in the spec's order.
pub(super) fn agreed<'a>(book: &Book<'a>) -> Vec<Agreed<'a>> {
    let topics = book.spec.topics.iter();
    let agreed = topics.filter_map(|topic| {
        let is_topic = |(key, _): &(&Key, _)| key.subject == topic.topic.value;
        let (_, claims) = book.found.claims.iter().find(is_topic)?;
        let term = &claims.first()?.value;
        let agrees = claims.iter().all(|claim| claim.value == *term);
        let answer = topic.terms.get(term).filter(|_| agrees)?;
        let sources = claims.iter().map(|claim| claim.source.as_str()).collect();
        Some(Agreed {
            topic,
            answer,
            sources,
        })
    });
    agreed.collect()
}
