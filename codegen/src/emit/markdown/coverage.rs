//! The coverage page: each line's statement and how it is verified.

use atf_spec::holds::{Held, Hold, Kind};
use atf_spec::load::Spec;
use atf_spec::model::{FileClaim, Lines, RecordClaim, Silence, SourceFile};
use atf_spec::reconcile::formula_base;
use atf_spec::text::spans;
use atf_spec::yaml::At;
use serde_json::{Value, json};

use super::Book;
use super::links::{self, Link};

/// The tests that compare layouts with tables written by hand from the documents, and with what
/// compilers produce.
const LAYOUT: [&str; 2] = [
    "codegen/tests/layout.rs::every_field_is_where_the_documents_put_it",
    "codegen/tests/c_layout.rs::compilers_find_every_size_offset_and_value_of_the_layout",
];

pub(super) fn page(book: &Book<'_>) -> Value {
    let spec = book.spec;
    let statements: Vec<Vec<Value>> = spec.sources.iter().map(|it| statements(spec, it)).collect();
    let total = |kind: Kind| {
        let of_kind = statements.iter().flatten();
        let of_kind = of_kind.filter(|said| said["kind"] == kind.words());
        (kind.words(), of_kind.count())
    };
    let size = |lines: Lines| lines.last - lines.first + 1;
    let sum = |silent: bool| {
        let spans = spec.sources.iter().flat_map(spans);
        let chosen = spans.filter(|span| span.silent.is_some() == silent);
        chosen.map(|span| size(span.lines)).sum::<u32>()
    };
    let silences = spec.decisions.silences.iter().map(|it| answer(spec, it));
    json!({
        "count": statements.iter().flatten().count(),
        "lines": sum(false) + sum(true),
        "claimed": sum(false),
        "silent": sum(true),
        "layout": tests(LAYOUT),
        // The number of statements by kind of verification.
        "totals": Kind::ALL.map(total),
        "silences": silences.collect::<Vec<_>>(),
        "sources": spec.sources.iter().zip(&statements).map(source).collect::<Vec<_>>(),
    })
}

fn source((source, statements): (&SourceFile, &Vec<Value>)) -> Value {
    let silent = source.text.iter().flat_map(|text| text.silent.all());
    let silent = silent.filter(|(_, lines)| !lines.is_empty());
    let silent = silent.map(|(reason, lines)| {
        let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
        (reason.words(), lines.join(", "))
    });
    json!({
        "id": source.source,
        "title": source.title,
        "statements": statements,
        // Lines without a statement, by reason.
        "silent": silent.collect::<Vec<_>>(),
    })
}

/// A topic and a source's stance on it.
type Stance<'a> = (&'a At<String>, &'a String);

/// Returns a source's statements in line order. If more than one is on the same lines, layouts come
/// first.
fn statements(spec: &Spec, source: &SourceFile) -> Vec<Value> {
    let mut all: Vec<(Option<Lines>, Value)> = Vec::new();
    let mut add =
        |lines: &Option<At<Lines>>, section: &str, says: &str, topic: Option<Stance<'_>>| {
            let lines = lines.map(|lines| lines.value);
            all.push((lines, said(spec, lines, section, says, topic)));
        };
    for record in &source.records {
        add(&record.lines, &record.place, &layout(record), None);
        for field in &record.fields {
            let says = field.says.as_ref().unwrap_or(&field.field);
            for (topic, term) in field.facts.iter() {
                let stance = Some((topic, &term.value));
                add(&record.lines, &record.place, says, stance);
            }
        }
    }
    for file in &source.files {
        add(&file.lines, &file.place, &sections(file), None);
    }
    for claim in &source.constants {
        let says = format!("{} is {}.", claim.constant, claim.value);
        add(&claim.lines, &claim.place, &says, None);
    }
    for one in &source.statements {
        let formula = one.formula.as_ref().and_then(|it| formula_base(it));
        let term = one.term.as_ref().map(|term| term.value.clone());
        let term = term.or(formula).unwrap_or_default();
        add(&one.lines, &one.place, &one.says, Some((&one.topic, &term)));
    }
    all.sort_by_key(|(lines, _)| *lines);
    all.into_iter().map(|(_, said)| said).collect()
}

/// Returns a statement, with how it is verified.
fn said(
    spec: &Spec,
    lines: Option<Lines>,
    section: &str,
    says: &str,
    topic: Option<Stance<'_>>,
) -> Value {
    let known = topic.and_then(|(topic, term)| Some((spec.topic(topic)?, term)));
    let mut said = match known {
        Some((topic, term)) => held_by(&Held::new(spec, topic, term)),
        None => json!({ "kind": Kind::Test.words() }),
    };
    said["lines"] = lines
        .map_or_else(|| "–".to_owned(), |lines| lines.to_string())
        .into();
    said["section"] = section.into();
    said["says"] = says.into();
    said["topic"] = json!(topic.map(|(topic, _)| links::topic(topic)));
    said
}

fn layout(record: &RecordClaim) -> String {
    let names: Vec<&str> = record.fields.iter().map(|it| it.field.as_str()).collect();
    let count = names.len();
    let fields = if count == 1 { "field" } else { "fields" };
    let (of, names) = (&record.record, names.join(", "));
    format!("{count} {fields} of {of}: {names}.")
}

fn sections(file: &FileClaim) -> String {
    let names: Vec<&str> = file.sections.iter().map(|it| it.section.as_str()).collect();
    format!("The sections of {}: {}.", file.file, names.join(", "))
}

/// Returns how a stance on a topic is verified: in words, and with links.
fn held_by(held: &Held<'_>) -> Value {
    let topic = held.topic;
    let is_overruled = held.is_overruled && topic.against.is_none();
    let tests = held
        .holds
        .iter()
        .map(|Hold { kind, path, name }| match kind {
            Kind::Benchmark => links::file(&format!("benchmark: {name}"), path),
            Kind::Document => links::file(name, &format!("{path}#{name}")),
            _ => links::file(name, path),
        });
    json!({
        "kind": held.kind().map_or("nothing", Kind::words),
        "rules": held.rules.iter().map(|rule| links::rule(&rule.id)).collect::<Vec<_>>(),
        "tests": tests.collect::<Vec<_>>(),
        // The decision that overrules the statement.
        "decision": is_overruled.then(|| links::topic(&topic.topic)),
        // Why the statement was overruled or is not implemented.
        "why": topic.not_done.as_ref().or(topic.against.as_ref()),
    })
}

/// Returns links to tests, given as `PATH::NAME`.
fn tests<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<Link> {
    let tests = names.into_iter().filter_map(|test| test.split_once("::"));
    tests.map(|(path, name)| links::file(name, path)).collect()
}

/// Returns how the decision on a silence is verified.
fn answer(spec: &Spec, silence: &Silence) -> Value {
    let rules = spec.rules_citing(&silence.silence);
    json!({
        "question": silence.question,
        "topic": links::topic(&silence.silence),
        "kind": "",
        "rules": rules.map(|rule| links::rule(&rule.id)).collect::<Vec<_>>(),
        "tests": tests(silence.tested_by.iter().map(|test| test.as_str())),
        "decision": null,
        // Why it has no rule.
        "why": silence.no_rule,
    })
}
