//! The decisions on disagreements and the values they chose, and the topics on which the sources
//! agree.

use std::collections::BTreeSet;

use atf_spec::layout::{Field, Value, Wire};
use atf_spec::model::{DecisionKind, Topic};
use atf_spec::reconcile::{ABSENT, Disagreement, Group, Key, layout_value};
use serde::Serialize;

use super::Book;
use super::links::{self, Link};

/// Returns a link to a decision on the reconciliation page.
pub(super) fn link(group: &Group<'_>) -> Link {
    let href = links::disagreement(&group.disagreements[0].key).href;
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
    pub(super) value: String,
    pub(super) wires: Vec<Wire>,
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

/// Returns the values that settle a disagreement, by wire version.
pub(super) fn outcome(book: &Book<'_>, found: &Disagreement) -> Vec<ByWire> {
    let wires = book.layout.wires.iter();
    by_wire(wires.filter_map(|wire| Some((*wire, held(book, found, *wire)?))))
}

/// Returns the value decided for one wire version, formatted like a claim.
fn held(book: &Book<'_>, found: &Disagreement, wire: Wire) -> Option<String> {
    let layout = book.layout;
    let Key { subject, property } = &found.key;
    if let Some(record) = layout.record(subject) {
        return Some(record.size.to_string());
    }
    if let Some((record, field)) = subject.split_once('.')
        && let Some(record) = layout.record(record)
    {
        return of_field(record.layout(wire)?.field(field), property);
    }
    if let Some(enumeration) = layout.enumeration(subject) {
        let mut members = enumeration.members.iter();
        let member = members.find(|known| known.name == *property)?;
        return Some(member.value.to_string());
    }
    term(found, wire)
}

/// Returns a property of a field, formatted like a claim.
fn of_field(field: Option<&Field>, property: &str) -> Option<String> {
    match property {
        "layout" => Some(field.map_or_else(
            || ABSENT.to_owned(),
            |field| layout_value(field.ty.size(), field.offset),
        )),
        "type" => Some(field?.ty.to_string()),
        "value" => field?.value.as_ref().map(Value::to_string),
        "none" => Some(field?.none?.to_string()),
        _ => None,
    }
}

/// Returns the chosen term of a topic: the decision's choice, or the wire version's claim.
fn term(found: &Disagreement, wire: Wire) -> Option<String> {
    let decision = &found.settlement.as_ref()?.decision;
    match decision.decision.value {
        DecisionKind::Conflict => decision.choice.as_ref().map(|choice| choice.value.clone()),
        DecisionKind::Split => {
            let claim = found.claims.iter().find(|claim| claim.wire == wire)?;
            Some(claim.value.clone())
        }
    }
}

/// A topic on which all claims agree.
pub(super) struct Agreed<'a> {
    pub(super) topic: &'a Topic,
    /// The sources' common answer, in the topic's words.
    pub(super) answer: &'a str,
    /// The sources that gave this answer.
    pub(super) sources: BTreeSet<&'a str>,
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
