//! What the compiler found and how it was settled: disagreements grouped by the decision that
//! settles them, in the order of the spec, and what holds since.

use std::collections::BTreeSet;

use atf_spec::layout::{Field, Value, Wire};
use atf_spec::load::Spec;
use atf_spec::model::{DecisionKind, Topic};
use atf_spec::reconcile::{ABSENT, Disagreement, Key, Reconciliation, Settlement, layout_value};
use serde::Serialize;

use super::Book;
use super::links::{self, Link};

/// A decision and the disagreements that it settles.
pub(super) struct Group<'a> {
    pub(super) settlement: &'a Settlement,
    pub(super) disagreements: Vec<&'a Disagreement>,
}

impl Group<'_> {
    /// To the decision in the chapter on the sources.
    pub(super) fn link(&self) -> Link {
        let href = links::disagreement(&self.disagreements[0].key).href;
        Link::new(&self.settlement.decision.title, href)
    }

    /// Whether it settles something of this subject.
    pub(super) fn settles(&self, is_subject: impl Fn(&str) -> bool) -> bool {
        let mut keys = self.disagreements.iter();
        keys.any(|found| is_subject(&found.key.subject))
    }
}

/// All decisions on disagreements: those at records and their fields in the format's order, then
/// those at enumerations, then those at topics.
pub(super) fn groups<'a>(spec: &'a Spec, found: &'a Reconciliation) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for found in &found.disagreements {
        let Some(settlement) = &found.settlement else {
            continue;
        };
        let same = |group: &&mut Group<'_>| {
            group.settlement.at == settlement.at
                && group.settlement.decision.title == settlement.decision.title
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.disagreements.push(found),
            None => groups.push(Group {
                settlement,
                disagreements: vec![found],
            }),
        }
    }
    groups.sort_by_key(|group| rank(spec, &group.settlement.at));
    for group in &mut groups {
        let Settlement { decision, at, .. } = group.settlement;
        let place = |found: &&Disagreement| {
            let mut settles = decision.settles.iter();
            settles.position(|settled| found.key == key(at, settled))
        };
        group.disagreements.sort_by_key(place);
    }
    groups
}

/// What an entry of a decision's `settles` names: a property of what the decision stands at, or of
/// another field of the same record.
fn key(at: &str, settled: &str) -> Key {
    let other = at.split_once('.').zip(settled.split_once('.'));
    let (subject, property) = match other {
        Some(((record, _), (field, property))) => (format!("{record}.{field}"), property),
        None => (at.to_owned(), settled),
    };
    Key {
        subject,
        property: property.to_owned(),
    }
}

/// The place of what a decision stands at, in the spec's order.
fn rank(spec: &Spec, at: &str) -> (usize, usize) {
    let (record, field) = match at.split_once('.') {
        Some((record, field)) => (record, Some(field)),
        None => (at, None),
    };
    let mut records = spec.records.iter();
    if let Some(number) = records.position(|known| known.record.value == record) {
        let fields = &spec.records[number].fields;
        let field = field.map(|field| fields.iter().position(|known| known.name.value == field));
        return (number, field.flatten().map_or(0, |field| field + 1));
    }
    let mut enums = spec.enums.enums.iter();
    if let Some(number) = enums.position(|known| known.name.value == at) {
        return (spec.records.len(), number);
    }
    let topic = spec.topics.iter().position(|known| known.topic.value == at);
    (spec.records.len() + 1, topic.unwrap_or(usize::MAX))
}

/// A value and the wire versions that have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct ByWire {
    pub(super) value: String,
    pub(super) wires: Vec<Wire>,
}

/// The values of the wire versions that have one, equal ones put together.
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

/// What holds where claims disagreed.
pub(super) fn outcome(book: &Book<'_>, found: &Disagreement) -> Vec<ByWire> {
    let wires = book.layout.wires.iter();
    by_wire(wires.filter_map(|wire| Some((*wire, held(book, found, *wire)?))))
}

/// What holds in one wire version, in the words that claims use.
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
        return Some(
            members
                .find(|known| known.name == *property)?
                .value
                .to_string(),
        );
    }
    term(found, wire)
}

/// A property of a field, in the words that claims use.
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

/// The term that holds at a topic: the decision's choice, or what the wire version's sources say.
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
    /// What they agree on, in the topic's words.
    pub(super) answer: &'a str,
    /// Who takes the stance.
    pub(super) sources: BTreeSet<&'a str>,
}

/// The topics on which the sources agree, in the spec's order.
pub(super) fn agreed<'a>(book: &Book<'a>) -> Vec<Agreed<'a>> {
    let topics = book.spec.topics.iter();
    let agreed = topics.filter_map(|topic| {
        let is_topic = |(key, _): &(&Key, _)| key.subject == topic.topic.value;
        let (_, claims) = book.found.claims.iter().find(is_topic)?;
        let term = &claims.first()?.value;
        claims
            .iter()
            .all(|claim| claim.value == *term)
            .then_some(())?;
        Some(Agreed {
            topic,
            answer: topic.terms.get(term)?,
            sources: claims.iter().map(|claim| claim.source.as_str()).collect(),
        })
    });
    agreed.collect()
}
