//! The page of one record.

use std::collections::BTreeSet;

use atf_spec::layout::{Field, Record, Value, Wire};
use atf_spec::yaml::At;
use serde::Serialize;

use super::Book;
use super::diagram;
use super::differences::{self, Difference};
use super::links::{self, Link};
use super::rules::{self, Summary};
use super::settled::{self, ByWire, by_wire};

#[derive(Serialize)]
pub(super) struct Page<'a> {
    record: &'a Record,
    followed_by: Option<&'a str>,
    /// The records of the same file, in order.
    file: Vec<Part>,
    layouts: Vec<Layout<'a>>,
    constraints: Vec<Constraint<'a>>,
    wires: &'a [Wire],
    differences: Vec<Difference>,
    decisions: Vec<Decision>,
    rules: Vec<Summary>,
}

/// One record of the page's file.
#[derive(Serialize)]
struct Part {
    link: Link,
    is_here: bool,
}

/// The fields in wire versions that share a layout.
#[derive(Serialize)]
struct Layout<'a> {
    wires: Vec<Wire>,
    /// The byte diagram's path.
    diagram: String,
    fields: Vec<Row<'a>>,
}

/// A field in the offset table.
#[derive(Serialize)]
struct Row<'a> {
    /// The anchor, only in the first table that contains the field.
    anchor: Option<String>,
    name: &'a str,
    offset: u32,
    size: u32,
    #[serde(rename = "type")]
    ty: String,
    doc: &'a str,
    units: Option<&'a str>,
    enumeration: Option<Link>,
    reserved: bool,
    /// The field's only valid value.
    values: Vec<ByWire>,
    /// The field's maximum.
    max: Option<u64>,
    /// The value that means "none".
    none: Option<String>,
    sources: &'a [String],
    /// The decisions on the field, by kind.
    decisions: Vec<Link>,
}

#[derive(Serialize)]
struct Constraint<'a> {
    field: Link,
    text: &'a str,
}

/// A decision on the record.
#[derive(Serialize)]
struct Decision {
    /// `conflict`, `split`, `silence` or `agreed`, as a link to the details.
    kind: Link,
    /// The subject of the decision, by name.
    about: String,
    question: Option<String>,
    answer: String,
    confidence: Option<&'static str>,
}

pub(super) fn page<'a>(book: &Book<'a>, record: &'a Record) -> Page<'a> {
    let same_file = book
        .layout
        .records
        .iter()
        .filter(|other| other.file == record.file);
    let part = |other: &Record| Part {
        link: links::record(other),
        is_here: other.name == record.name,
    };
    Page {
        record,
        followed_by: record.followed_by.as_deref(),
        file: same_file.map(part).collect(),
        layouts: layouts(book, record),
        constraints: constraints(record),
        wires: &book.layout.wires,
        differences: differences::of_record(record, &book.layout.wires),
        decisions: decisions(book, record),
        rules: rules::about(book.spec, |name| is_of(record, name)),
    }
}

fn layouts<'a>(book: &Book<'a>, record: &'a Record) -> Vec<Layout<'a>> {
    let mut seen = BTreeSet::new();
    let layouts = diagram::alike(record).into_iter().map(|wires| {
        let fields = record
            .layout(wires[0])
            .map_or(&[][..], |layout| &layout.fields);
        let mut row = |field: &'a Field| {
            let is_first = seen.insert(field.name.as_str());
            row(book, record, &wires, field, is_first)
        };
        Layout {
            diagram: diagram::path(record, &wires),
            fields: fields.iter().map(&mut row).collect(),
            wires,
        }
    });
    layouts.collect()
}

fn row<'a>(
    book: &Book<'a>,
    record: &Record,
    wires: &[Wire],
    field: &'a Field,
    is_first: bool,
) -> Row<'a> {
    let value = |wire: &Wire| {
        let value = record.layout(*wire)?.field(&field.name)?.value.as_ref()?;
        Some((*wire, Value::to_string(value)))
    };
    let subject = format!("{}.{}", record.name, field.name);
    let decisions = book
        .decisions
        .iter()
        .filter(|group| settled::settles(group, |name| name == subject));
    Row {
        anchor: is_first.then(|| links::field_anchor(&field.name)),
        name: &field.name,
        offset: field.offset,
        size: field.ty.size(),
        ty: field.ty.to_string(),
        doc: &field.doc,
        units: field.units.as_deref(),
        enumeration: field.enumeration.as_deref().map(links::enumeration),
        reserved: field.reserved,
        values: by_wire(wires.iter().filter_map(value)),
        max: field.max,
        none: field.none.map(|none| format!("0x{none:X}")),
        sources: &field.sources,
        decisions: decisions
            .map(|group| {
                Link::new(
                    group.settlement.decision.decision.name(),
                    settled::link(group).href,
                )
            })
            .collect(),
    }
}

/// Returns the constraints on all fields, listing each field once.
fn constraints(record: &Record) -> Vec<Constraint<'_>> {
    let mut seen = BTreeSet::new();
    let fields = record.layouts.iter().flat_map(|layout| &layout.fields);
    let fields = fields.filter(|field| seen.insert(&field.name));
    let constraints = fields.flat_map(|field| {
        let texts = field.constraints.iter();
        texts.map(|text| Constraint {
            field: links::field(&field.name, &record.name, &field.name),
            text,
        })
    });
    constraints.collect()
}

/// Returns whether a name belongs to the record or one of its fields.
fn is_of(record: &Record, name: &str) -> bool {
    let of_field = |rest: &str| rest.starts_with('.');
    name.strip_prefix(&record.name)
        .is_some_and(|rest| rest.is_empty() || of_field(rest))
}

/// Returns the decisions on the record, followed by the topics and silences about it.
fn decisions(book: &Book<'_>, record: &Record) -> Vec<Decision> {
    let mut decisions = Vec::new();
    let about_it = |about: &[At<String>]| about.iter().any(|name| is_of(record, &name.value));
    for group in &book.decisions {
        let topic = book.spec.topics.iter();
        let mut topic = topic.filter(|topic| topic.topic.value == group.settlement.at);
        let topic = topic.next();
        if !settled::settles(group, |name| is_of(record, name))
            && !topic.is_some_and(|t| about_it(&t.about))
        {
            continue;
        }
        let decision = &group.settlement.decision;
        decisions.push(Decision {
            kind: Link::new(decision.decision.name(), settled::link(group).href),
            about: group.settlement.at.clone(),
            question: topic.map(|topic| topic.question.clone()),
            answer: decision.title.clone(),
            confidence: Some(decision.confidence.name()),
        });
    }
    for silence in book
        .spec
        .decisions
        .silences
        .iter()
        .filter(|silence| about_it(&silence.about))
    {
        let name = silence.silence.as_str();
        decisions.push(Decision {
            kind: Link::new("silence", links::topic(name).href),
            about: name.to_owned(),
            question: Some(silence.question.clone()),
            answer: silence.decision.clone(),
            confidence: Some(silence.confidence.name()),
        });
    }
    for agreed in settled::agreed(book) {
        if about_it(&agreed.topic.about) {
            let name = agreed.topic.topic.as_str();
            decisions.push(Decision {
                kind: Link::new("agreed", links::topic(name).href),
                about: name.to_owned(),
                question: Some(agreed.topic.question.clone()),
                answer: agreed.answer.to_owned(),
                confidence: None,
            });
        }
    }
    decisions
}
