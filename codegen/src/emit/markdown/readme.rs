//! The first page: the format, its files and numbers, and the table of contents.

use atf_spec::layout::{Field, Record, SourceDocument, Value, Wire};
use atf_spec::yaml::At;
use serde::Serialize;

use super::Book;
use super::differences::{self, Difference};
use super::links::{self, Link};
use super::session;
use super::settled::{ByWire, by_wire};

#[derive(Serialize)]
pub(super) struct Page<'a> {
    means: &'a str,
    versions: Vec<Version<'a>>,
    wires: &'a [Wire],
    differences: Vec<Difference>,
    sketch: &'static str,
    tree: String,
    manifest: &'a str,
    records: Vec<Entry<'a>>,
    fixed: Vec<Fixed>,
    limits: Vec<Limit>,
    answers: Vec<Answer>,
    enums: &'static str,
    session: &'static str,
    rules: &'static str,
    reconciliation: &'static str,
    coverage: &'static str,
    rule_count: usize,
    sources: &'a [SourceDocument],
}

#[derive(Serialize)]
struct Version<'a> {
    wire: &'a str,
    means: &'a str,
}

#[derive(Serialize)]
struct Entry<'a> {
    link: Link,
    c_name: &'a str,
    file: &'a str,
    size: u32,
}

/// A field with a fixed value.
#[derive(Serialize)]
struct Fixed {
    field: Link,
    values: Vec<ByWire>,
    /// For text, the value's bytes in the file, in hexadecimal.
    bytes: Option<String>,
}

/// A field with a different range in each wire version.
#[derive(Serialize)]
struct Limit {
    field: Link,
    /// The maximum in each wire version; `None` if the version lacks the field.
    greatest: Vec<Option<String>>,
}

/// A decision on a limit.
#[derive(Serialize)]
struct Answer {
    question: Link,
    answer: String,
}

pub(super) fn page<'a>(book: &Book<'a>) -> Page<'a> {
    let (spec, layout) = (book.spec, book.layout);
    let version = |(wire, means): (&'a At<String>, &'a String)| Version { wire, means };
    let entry = |record: &'a Record| Entry {
        link: links::record(record),
        c_name: &record.c_name,
        file: &record.file,
        size: record.size,
    };
    Page {
        means: &spec.format.means,
        versions: spec.format.wires.iter().map(version).collect(),
        wires: &layout.wires,
        differences: differences::of_layout(layout),
        sketch: links::SKETCH,
        tree: session::tree(spec),
        manifest: &spec.manifest.file,
        records: layout.records.iter().map(entry).collect(),
        fixed: layout.records.iter().flat_map(fixed).collect(),
        limits: layout
            .records
            .iter()
            .flat_map(|record| limits(record, &layout.wires))
            .collect(),
        answers: answers(book),
        enums: links::ENUMS,
        session: links::SESSION,
        rules: links::RULES,
        reconciliation: links::RECONCILIATION,
        coverage: links::COVERAGE,
        rule_count: spec.all_rules().count(),
        sources: &layout.sources,
    }
}

/// Returns the fields of all layouts of a record. A field that is in several layouts is returned
/// once, as in the first of these layouts.
fn fields(record: &Record) -> Vec<&Field> {
    let mut fields: Vec<&Field> = Vec::new();
    for field in record.layouts.iter().flat_map(|layout| &layout.fields) {
        if fields.iter().all(|known| known.name != field.name) {
            fields.push(field);
        }
    }
    fields
}

fn link(record: &Record, field: &Field) -> Link {
    let name = format!("{}.{}", record.name, field.name);
    links::field(&name, &record.name, &field.name)
}

fn fixed(record: &Record) -> Vec<Fixed> {
    let one = |field: &&Field| field.value.is_some();
    let fixed = fields(record).into_iter().filter(one).map(|field| {
        let value = |layout: &atf_spec::layout::RecordLayout| {
            let value = layout.field(&field.name)?.value.as_ref()?;
            Some((layout.wire, Value::to_string(value)))
        };
        let bytes = match &field.value {
            Some(Value::Text(text)) => {
                let bytes: Vec<String> = text.bytes().map(|byte| format!("{byte:02X}")).collect();
                Some(bytes.join(" "))
            }
            _ => None,
        };
        Fixed {
            field: link(record, field),
            values: by_wire(record.layouts.iter().filter_map(value)),
            bytes,
        }
    });
    fixed.collect()
}

fn limits(record: &Record, wires: &[Wire]) -> Vec<Limit> {
    let limit = |field: &Field| {
        let number = |wire: &Wire| {
            record
                .layout(*wire)?
                .field(&field.name)
                .filter(|f| is_number(f))
        };
        let numbers: Vec<Option<&Field>> = wires.iter().map(number).collect();
        let mut types = numbers.iter().flatten().map(|field| field.ty);
        let first = types.next()?;
        types.any(|ty| ty != first).then(|| Limit {
            field: link(record, field),
            greatest: numbers.iter().map(|field| field.map(greatest)).collect(),
        })
    };
    fields(record).into_iter().filter_map(limit).collect()
}

/// Returns whether a field is a plain number limited only by its type.
fn is_number(field: &Field) -> bool {
    let has_names = field.enumeration.is_some() || field.value.is_some();
    !field.reserved && !has_names && field.ty.count.is_none()
}

/// Formats a field's maximum in groups of three digits, not counting the value that means "none".
fn greatest(field: &Field) -> String {
    let max = field.ty.scalar.max();
    let number = if field.none == Some(max) {
        max - 1
    } else {
        max
    };
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    let groups: Vec<&str> = groups
        .map(|group| std::str::from_utf8(group).unwrap_or(""))
        .collect();
    groups.join("\u{202f}")
}

/// Returns the topics and silences about limits, found by their names.
fn answers(book: &Book<'_>) -> Vec<Answer> {
    let is_limit = |name: &str| {
        name.split('.')
            .any(|part| part == "limit" || part == "limits")
    };
    let agreed = super::settled::agreed(book).into_iter();
    let agreed = agreed.map(|agreed| {
        (
            agreed.topic.topic.as_str(),
            &agreed.topic.question,
            agreed.answer,
        )
    });
    let silences = book.spec.decisions.silences.iter();
    let silences = silences.map(|s| (s.silence.as_str(), &s.question, s.decision.as_str()));
    agreed
        .chain(silences)
        .filter(|(name, ..)| is_limit(name))
        .map(|(name, question, answer)| Answer {
            question: Link::new(question, links::topic(name).href),
            answer: answer.to_owned(),
        })
        .collect()
}
