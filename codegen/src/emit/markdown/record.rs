//! The page of one record.

use std::collections::BTreeSet;

use atf_spec::layout::{Field, Record, Wire};
use atf_spec::yaml::At;
use serde_json::{Value, json};

use super::links::{self, Link};
use super::reconciliation::{self, by_wire};
use super::{Book, diagram, readme, rules};

pub(super) fn page(book: &Book<'_>, record: &Record) -> Value {
    let records = book.layout.records.iter();
    let same_file = records.filter(|other| other.file == record.file);
    let part = |other: &Record| {
        let is_here = other.name == record.name;
        json!({ "link": links::record(other), "is_here": is_here })
    };
    json!({
        "record": record,
        "followed_by": record.followed_by,
        // The records of the same file, in order.
        "file": same_file.map(part).collect::<Vec<_>>(),
        "layouts": layouts(book, record),
        "constraints": constraints(record),
        "wires": book.layout.wires,
        "differences": readme::differences(record, &book.layout.wires),
        "decisions": decisions(book, record),
        "rules": rules::about(book.spec, |name| is_of(record, name)),
    })
}

/// Returns the layouts, each for the wire versions that share it.
fn layouts(book: &Book<'_>, record: &Record) -> Vec<Value> {
    let mut seen = BTreeSet::new();
    let layouts = diagram::alike(record).into_iter().map(|wires| {
        let rows = diagram::fields(record, &wires).iter().map(|field| {
            let is_first = seen.insert(field.name.as_str());
            row(book, record, &wires, field, is_first)
        });
        json!({
            "fields": rows.collect::<Vec<_>>(),
            "diagram": diagram::path(record, &wires),
            "wires": wires,
        })
    });
    layouts.collect()
}

/// Returns a field's row in the offset table. Only the first table with the field has its anchor.
fn row(book: &Book<'_>, record: &Record, wires: &[Wire], field: &Field, is_first: bool) -> Value {
    let value = |wire: &Wire| {
        let value = record.layout(*wire)?.field(&field.name)?.value.as_ref()?;
        Some((*wire, value.to_string()))
    };
    let subject = format!("{}.{}", record.name, field.name);
    let decisions = book.decisions.iter();
    let decisions = decisions.filter(|it| reconciliation::settles(it, |name| name == subject));
    json!({
        "anchor": is_first.then(|| links::field_anchor(&field.name)),
        "name": field.name,
        "offset": field.offset,
        "size": field.ty.size(),
        "type": field.ty,
        "doc": field.doc,
        "units": field.units,
        "enumeration": field.enumeration.as_deref().map(links::enumeration),
        "reserved": field.reserved,
        "values": by_wire(wires.iter().filter_map(value)),
        "max": field.max,
        "none": field.none.map(|none| format!("0x{none:X}")),
        "sources": field.sources,
        "decisions": decisions.map(reconciliation::link_by_kind).collect::<Vec<_>>(),
    })
}

/// Returns the constraints on all fields, listing each field once.
fn constraints(record: &Record) -> Vec<Value> {
    let fields = record.fields().into_iter();
    let constraints = fields.flat_map(|field| {
        let link = links::field(&field.name, &record.name, &field.name);
        let texts = field.constraints.iter();
        texts.map(move |text| json!({ "field": link, "text": text }))
    });
    constraints.collect()
}

/// Returns whether a name belongs to the record or one of its fields.
fn is_of(record: &Record, name: &str) -> bool {
    let rest = name.strip_prefix(&record.name);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Returns the decisions on the record, followed by the topics and silences about it. The kind of
/// each, `conflict`, `split`, `silence` or `agreed`, is a link to the details.
fn decisions(book: &Book<'_>, record: &Record) -> Vec<Value> {
    let about_it = |about: &[At<String>]| about.iter().any(|name| is_of(record, name));
    let groups = book.decisions.iter().filter_map(|group| {
        let topic = book.spec.topic(&group.settlement.at);
        let is_shown = reconciliation::settles(group, |name| is_of(record, name))
            || topic.is_some_and(|topic| about_it(&topic.about));
        let decision = &group.settlement.decision;
        is_shown.then(|| {
            json!({
                "kind": reconciliation::link_by_kind(group),
                "about": group.settlement.at,
                "question": topic.map(|topic| &topic.question),
                "answer": decision.title,
                "confidence": decision.confidence.name(),
            })
        })
    });
    let silences = book.spec.decisions.silences.iter();
    let silences = silences.filter(|silence| about_it(&silence.about));
    let silences = silences.map(|silence| {
        json!({
            "kind": Link::new("silence", links::topic(&silence.silence).href),
            "about": silence.silence,
            "question": silence.question,
            "answer": silence.decision,
            "confidence": silence.confidence.name(),
        })
    });
    let agreed = reconciliation::agreed(book).into_iter();
    let agreed = agreed.filter(|agreed| about_it(&agreed.topic.about));
    let agreed = agreed.map(|agreed| {
        json!({
            "kind": Link::new("agreed", links::topic(&agreed.topic.topic).href),
            "about": agreed.topic.topic,
            "question": agreed.topic.question,
            "answer": agreed.answer,
            "confidence": null,
        })
    });
    groups.chain(silences).chain(agreed).collect()
}
