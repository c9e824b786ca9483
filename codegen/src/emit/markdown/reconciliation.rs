//! The page on sources and decisions.

use atf_spec::layout::Wire;
use atf_spec::model::{DecisionKind, Silence, SourceFile, Topic};
use atf_spec::reconcile::{Claim, Disagreement, Group, How, Key};
use serde::Serialize;

use super::Book;
use super::links::{self, Link};
use super::settled::{self, Agreed, ByWire};

#[derive(Serialize)]
pub(super) struct Page<'a> {
    sources: Vec<Source<'a>>,
    claims: usize,
    disagreements: usize,
    conflicts: usize,
    splits: usize,
    parts: Vec<Part<'a>>,
    silences: Vec<Quiet<'a>>,
    agreed: Vec<Answer<'a>>,
}

#[derive(Serialize)]
struct Source<'a> {
    id: &'a str,
    title: &'a str,
    document: &'a str,
    about: &'a str,
    wire: Wire,
}

/// The decisions on one kind of subject.
#[derive(Serialize)]
struct Part<'a> {
    title: String,
    decisions: Vec<Decision<'a>>,
}

/// A decision and the disagreements it settles.
#[derive(Serialize)]
struct Decision<'a> {
    /// The keys of the disagreements and, for a topic, the topic's name.
    anchors: Vec<String>,
    title: &'a str,
    kind: &'static str,
    at: Link,
    question: Option<&'a str>,
    /// The stances on a topic, with their meanings.
    terms: Vec<(&'a str, &'a str)>,
    reason: &'a str,
    confidence: &'static str,
    disagreements: Vec<Table<'a>>,
}

/// The claims of one disagreement.
#[derive(Serialize)]
struct Table<'a> {
    key: String,
    /// The decided value.
    outcome: Vec<ByWire>,
    /// Whether any claim is described in words.
    has_words: bool,
    claims: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    source: &'a str,
    /// How the source makes the claim, unless it states the value directly.
    verb: Option<&'static str>,
    /// `None` if the source omits the value.
    value: Option<String>,
    section: &'a str,
    says: Option<&'a str>,
}

#[derive(Serialize)]
struct Quiet<'a> {
    name: &'a str,
    question: &'a str,
    about: Vec<Link>,
    decision: &'a str,
    reason: &'a str,
    confidence: &'static str,
    /// The rules that test the decision.
    rules: Vec<Link>,
    /// The tests in the repository that verify the decision.
    tests: Vec<&'a str>,
}

/// A topic on which the sources agree.
#[derive(Serialize)]
struct Answer<'a> {
    name: &'a str,
    question: &'a str,
    answer: &'a str,
    sources: Vec<&'a str>,
    about: Vec<Link>,
}

pub(super) fn page<'a>(book: &Book<'a>) -> Page<'a> {
    let count = |kind| {
        let decisions = book.decisions.iter();
        decisions
            .filter(|group| group.settlement.decision.decision.value == kind)
            .count()
    };
    Page {
        sources: book.spec.sources.iter().map(source).collect(),
        claims: book.found.claims.values().map(Vec::len).sum(),
        disagreements: book.found.disagreements.len(),
        conflicts: count(DecisionKind::Conflict),
        splits: count(DecisionKind::Split),
        parts: parts(book),
        silences: book
            .spec
            .decisions
            .silences
            .iter()
            .map(|known| silence(book, known))
            .collect(),
        agreed: settled::agreed(book)
            .into_iter()
            .map(|known| answer(book, known))
            .collect(),
    }
}

fn source(source: &SourceFile) -> Source<'_> {
    Source {
        id: &source.source,
        title: &source.title,
        document: &source.document,
        about: &source.about,
        wire: source.wire.value,
    }
}

/// Groups the decisions under the titles of their records or other subjects.
fn parts<'a>(book: &Book<'a>) -> Vec<Part<'a>> {
    let mut parts: Vec<Part<'a>> = Vec::new();
    for group in &book.decisions {
        let at = group.settlement.at.as_str();
        let record = at.split_once('.').map_or(at, |(record, _)| record);
        let title = match book.spec.record(record) {
            Some(record) => record.title.clone(),
            None if topic(book, at).is_some() => "Beyond the layouts".to_owned(),
            None => "Enumerations".to_owned(),
        };
        let decision = decision(book, group);
        match parts.last_mut().filter(|part| part.title == title) {
            Some(part) => part.decisions.push(decision),
            None => parts.push(Part {
                title,
                decisions: vec![decision],
            }),
        }
    }
    parts
}

fn topic<'a>(book: &Book<'a>, name: &str) -> Option<&'a Topic> {
    book.spec
        .topics
        .iter()
        .find(|topic| topic.topic.value == name)
}

fn decision<'a>(book: &Book<'a>, group: &Group<'a>) -> Decision<'a> {
    let (at, decision) = (&group.settlement.at, &group.settlement.decision);
    let topic = topic(book, at);
    let keys = group
        .disagreements
        .iter()
        .map(|found| found.key.to_string());
    let terms = topic.into_iter().flat_map(|topic| topic.terms.iter());
    Decision {
        anchors: keys
            .chain(topic.map(|topic| topic.topic.value.clone()))
            .collect(),
        title: &decision.title,
        kind: decision.decision.name(),
        at: links::subject(book.spec, at),
        question: topic.map(|topic| topic.question.as_str()),
        terms: terms
            .map(|(term, means)| (term.as_str(), means.as_str()))
            .collect(),
        reason: &decision.reason,
        confidence: decision.confidence.name(),
        disagreements: group
            .disagreements
            .iter()
            .map(|found| table(book, found))
            .collect(),
    }
}

fn table<'a>(book: &Book<'a>, found: &'a Disagreement) -> Table<'a> {
    let claims: Vec<&Claim> = found.claims.iter().collect();
    Table {
        key: found.key.to_string(),
        outcome: settled::outcome(book, found)
            .into_iter()
            .map(|one| ByWire {
                value: shown(&found.key, &one.value),
                ..one
            })
            .collect(),
        has_words: claims.iter().any(|claim| claim.says.is_some()),
        claims: claims
            .into_iter()
            .map(|claim| row(&found.key, claim))
            .collect(),
    }
}

/// Formats a value for the pages, in hexadecimal if it means "none".
fn shown(key: &Key, value: &str) -> String {
    match value.parse::<u64>() {
        Ok(number) if key.property == "none" => format!("0x{number:X}"),
        _ => value.to_owned(),
    }
}

fn row<'a>(key: &Key, claim: &'a Claim) -> Row<'a> {
    Row {
        source: &claim.source,
        verb: (claim.how != How::States).then(|| claim.how.verb()),
        value: (claim.how != How::Omits).then(|| shown(key, &claim.value)),
        section: &claim.section,
        says: claim.says.as_deref(),
    }
}

fn silence<'a>(book: &Book<'a>, silence: &'a Silence) -> Quiet<'a> {
    let is_rule = |name: &str| book.spec.all_rules().any(|(_, rule)| rule.id.value == name);
    let tests = silence.tested_by.iter().map(|test| test.as_str());
    let (rules, tests): (Vec<&str>, Vec<&str>) = tests.partition(|test| is_rule(test));
    Quiet {
        name: &silence.silence,
        question: &silence.question,
        about: silence
            .about
            .iter()
            .map(|name| links::subject(book.spec, name))
            .collect(),
        decision: &silence.decision,
        reason: &silence.reason,
        confidence: silence.confidence.name(),
        rules: rules.into_iter().map(links::rule).collect(),
        tests,
    }
}

fn answer<'a>(book: &Book<'a>, agreed: Agreed<'a>) -> Answer<'a> {
    let about = agreed.topic.about.iter();
    Answer {
        name: &agreed.topic.topic,
        question: &agreed.topic.question,
        answer: agreed.answer,
        sources: agreed.sources.into_iter().collect(),
        about: about.map(|name| links::subject(book.spec, name)).collect(),
    }
}
