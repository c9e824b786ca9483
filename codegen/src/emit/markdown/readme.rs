//! The first page: the format, its files and numbers, and the table of contents.

use atf_spec::difference;
use atf_spec::layout::{Field, Record, RecordLayout, Value as Fixed, Wire};
use atf_spec::yaml::At;
use serde_json::{Value, json};

use super::Book;
use super::links::{self, Link};
use super::reconciliation::{self, by_wire};
use super::session;

pub(super) fn page(book: &Book<'_>) -> Value {
    let (spec, layout) = (book.spec, book.layout);
    let version = |(wire, means): (&At<String>, &String)| json!({ "wire": wire, "means": means });
    let entry = |record: &Record| {
        json!({
            "link": links::record(record),
            "c_name": record.c_name,
            "file": record.file,
            "size": record.size,
        })
    };
    let records = || layout.records.iter();
    let limits = records().flat_map(|record| limits(record, &layout.wires));
    let differences = records().flat_map(|record| differences(record, &layout.wires));
    json!({
        "means": spec.format.means,
        "versions": spec.format.wires.iter().map(version).collect::<Vec<_>>(),
        "wires": layout.wires,
        "differences": differences.collect::<Vec<_>>(),
        "sketch": links::SKETCH,
        "tree": session::tree(spec),
        "manifest": spec.manifest.file,
        "records": records().map(entry).collect::<Vec<_>>(),
        "fixed": records().flat_map(fixed).collect::<Vec<_>>(),
        "limits": limits.collect::<Vec<_>>(),
        "answers": answers(book),
        "enums": links::ENUMS,
        "session": links::SESSION,
        "rules": links::RULES,
        "reconciliation": links::RECONCILIATION,
        "coverage": links::COVERAGE,
        "rule_count": spec.all_rules().count(),
        "sources": layout.sources,
    })
}

/// Returns the fields of a record that differ between these wire versions.
pub(super) fn differences(record: &Record, wires: &[Wire]) -> Vec<Value> {
    let differences = difference::differences(record, wires).into_iter();
    let rows = differences.map(|it| {
        json!({
            "record": links::record(record),
            "field": links::field(it.name, &record.name, it.name),
            // In the order of the wire versions; null if a version does not have the field.
            "versions": it.versions,
        })
    });
    rows.collect()
}

fn link(record: &Record, field: &Field) -> Link {
    let name = format!("{}.{}", record.name, field.name);
    links::field(&name, &record.name, &field.name)
}

fn fixed(record: &Record) -> Vec<Value> {
    let fixed = |field: &Field| {
        let known = field.value.as_ref()?;
        let value = |layout: &RecordLayout| {
            let value = layout.field(&field.name)?.value.as_ref()?;
            Some((layout.wire, value.to_string()))
        };
        let bytes = match known {
            Fixed::Text(text) => {
                let bytes: Vec<String> = text.bytes().map(|byte| format!("{byte:02X}")).collect();
                Some(bytes.join(" "))
            }
            Fixed::Number(_) => None,
        };
        Some(json!({
            "field": link(record, field),
            "values": by_wire(record.layouts.iter().filter_map(value)),
            // A text's bytes, in hexadecimal.
            "bytes": bytes,
        }))
    };
    record.fields().into_iter().filter_map(fixed).collect()
}

/// Returns the fields with a different range in each wire version.
fn limits(record: &Record, wires: &[Wire]) -> Vec<Value> {
    let limit = |field: &Field| {
        let number = |wire: &Wire| {
            let field = record.layout(*wire)?.field(&field.name);
            field.filter(|field| is_number(field))
        };
        let numbers: Vec<Option<&Field>> = wires.iter().map(number).collect();
        let mut types = numbers.iter().flatten().map(|field| field.ty);
        let first = types.next()?;
        let greatest = numbers.iter().map(|field| field.map(greatest));
        types.any(|ty| ty != first).then(|| {
            json!({
                "field": link(record, field),
                // In the order of the wire versions; null if a version does not have the field.
                "greatest": greatest.collect::<Vec<_>>(),
            })
        })
    };
    record.fields().into_iter().filter_map(limit).collect()
}

/// Returns whether a field is a plain number limited only by its type.
fn is_number(field: &Field) -> bool {
    let has_names = field.enumeration.is_some() || field.value.is_some();
    !field.reserved && !has_names && field.ty.count.is_none()
}

/// Formats a field's maximum in groups of three digits, not counting the value that means "none".
fn greatest(field: &Field) -> String {
    let max = field.ty.scalar.max();
    let number = max - u64::from(field.none == Some(max));
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    let groups: Vec<&str> = groups
        .map(|group| std::str::from_utf8(group).unwrap_or(""))
        .collect();
    groups.join("\u{202f}")
}

/// Returns the topics and silences about limits, found by their names.
fn answers(book: &Book<'_>) -> Vec<Value> {
    let is_limit = |name: &str| name.split('.').any(|it| matches!(it, "limit" | "limits"));
    let agreed = reconciliation::agreed(book).into_iter();
    let agreed = agreed.map(|it| (&it.topic.topic, &it.topic.question, it.answer));
    let silences = book.spec.decisions.silences.iter();
    let silences = silences.map(|it| (&it.silence, &it.question, it.decision.as_str()));
    let answers = agreed.chain(silences).filter(|(name, ..)| is_limit(name));
    let answer = |(name, question, answer): (&At<String>, &String, &str)| json!({ "question": Link::new(question, links::topic(name).href), "answer": answer });
    answers.map(answer).collect()
}
