//! The coverage page: each line's statement and how it is verified.

use atf_spec::holds::{Held, Hold, Kind};
use atf_spec::load::Spec;
use atf_spec::model::{ConstantClaim, FileClaim, Lines, RecordClaim, Silence, SourceFile};
use atf_spec::text::spans;
use atf_spec::yaml::At;
use serde::Serialize;

use super::Book;
use super::links::{self, Link};

/// The tests that compare layouts with tables written by hand from the documents, and with what
/// compilers produce.
const LAYOUT: [&str; 2] = [
    "codegen/tests/layout.rs::every_field_is_where_the_documents_put_it",
    "codegen/tests/c_layout.rs::compilers_find_every_size_offset_and_value_of_the_layout",
];

#[derive(Serialize)]
pub(super) struct Page<'a> {
    /// The number of statements.
    count: usize,
    lines: u32,
    claimed: u32,
    silent: u32,
    /// The tests that verify layouts.
    layout: Vec<Link>,
    /// The number of statements per kind of verification.
    totals: Vec<(&'static str, usize)>,
    sources: Vec<Source<'a>>,
    /// Questions that no source answers, and our decisions.
    silences: Vec<Answer<'a>>,
}

#[derive(Serialize)]
struct Source<'a> {
    id: &'a str,
    title: &'a str,
    statements: Vec<Said<'a>>,
    /// Lines without a statement, by reason.
    silent: Vec<(&'static str, String)>,
}

/// One statement of a source.
#[derive(Serialize)]
struct Said<'a> {
    lines: String,
    section: &'a str,
    says: String,
    topic: Option<Link>,
    #[serde(flatten)]
    held: HeldBy<'a>,
}

#[derive(Serialize)]
struct Answer<'a> {
    question: &'a str,
    topic: Link,
    #[serde(flatten)]
    held: HeldBy<'a>,
}

/// How a statement or decision is verified: in words, and with links.
#[derive(Serialize, Default)]
struct HeldBy<'a> {
    kind: &'static str,
    rules: Vec<Link>,
    /// Links to tests, benchmarks and sections of documents.
    tests: Vec<Link>,
    /// The decision that overrules the statement.
    decision: Option<Link>,
    /// Why the statement was overruled, is not implemented, or has no rule.
    why: Option<&'a str>,
}

pub(super) fn page<'a>(book: &Book<'a>) -> Page<'a> {
    let spec = book.spec;
    let sources: Vec<_> = spec
        .sources
        .iter()
        .map(|known| source(spec, known))
        .collect();
    let statements = || sources.iter().flat_map(|source| &source.statements);
    let total = |kind: Kind| {
        let words = kind.words();
        (
            words,
            statements().filter(|said| said.held.kind == words).count(),
        )
    };
    let size = |lines: Lines| lines.last - lines.first + 1;
    let all = || spec.sources.iter().flat_map(spans);
    let sum = |silent: bool| {
        let chosen = all().filter(|span| span.silent.is_some() == silent);
        chosen.map(|span| size(span.lines)).sum::<u32>()
    };
    Page {
        count: statements().count(),
        lines: sum(false) + sum(true),
        claimed: sum(false),
        silent: sum(true),
        layout: tests(LAYOUT),
        totals: Kind::ALL.map(total).into(),
        silences: spec
            .decisions
            .silences
            .iter()
            .map(|silence| answer(spec, silence))
            .collect(),
        sources,
    }
}

fn source<'a>(spec: &'a Spec, source: &'a SourceFile) -> Source<'a> {
    let silent = source.text.iter().flat_map(|text| text.silent.all());
    let silent = silent
        .filter(|(_, lines)| !lines.is_empty())
        .map(|(reason, lines)| {
            let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
            (reason.words(), lines.join(", "))
        });
    Source {
        id: &source.source,
        title: &source.title,
        statements: statements(spec, source),
        silent: silent.collect(),
    }
}

/// Returns a source's statements in line order. If several are on the same lines, layouts come
/// first.
fn statements<'a>(spec: &'a Spec, source: &'a SourceFile) -> Vec<Said<'a>> {
    let mut all: Vec<(Option<Lines>, Said<'a>)> = Vec::new();
    let mut add = |lines: Option<&At<Lines>>, section, says, topic: Option<(&At<String>, &str)>| {
        let lines = lines.map(|lines| lines.value);
        all.push((lines, said(spec, lines, section, says, topic)));
    };
    for record in &source.records {
        add(record.lines.as_ref(), &record.place, layout(record), None);
        for field in &record.fields {
            let says = field.says.as_ref().unwrap_or(&field.field);
            for (topic, term) in field.facts.iter() {
                add(
                    record.lines.as_ref(),
                    &record.place,
                    says.clone(),
                    Some((topic, term)),
                );
            }
        }
    }
    for file in &source.files {
        add(file.lines.as_ref(), &file.place, sections(file), None);
    }
    for constant in &source.constants {
        let ConstantClaim {
            constant: name,
            value,
            lines,
            place,
        } = constant;
        add(lines.as_ref(), place, format!("{name} is {value}."), None);
    }
    for one in &source.statements {
        let formula = one
            .formula
            .as_ref()
            .and_then(|formula| atf_spec::reconcile::formula_base(formula));
        let term = one
            .term
            .as_ref()
            .map(|term| term.value.clone())
            .or(formula)
            .unwrap_or_default();
        add(
            one.lines.as_ref(),
            &one.place,
            one.says.clone(),
            Some((&one.topic, &term)),
        );
    }
    all.sort_by_key(|(lines, _)| *lines);
    all.into_iter().map(|(_, said)| said).collect()
}

fn said<'a>(
    spec: &'a Spec,
    lines: Option<Lines>,
    section: &'a str,
    says: String,
    topic: Option<(&At<String>, &str)>,
) -> Said<'a> {
    let known = topic.and_then(|(topic, term)| {
        let known = spec
            .topics
            .iter()
            .find(|known| known.topic.value == topic.value);
        known.map(|known| Held::new(spec, known, term))
    });
    Said {
        lines: lines.map_or_else(|| "–".to_owned(), |lines| lines.to_string()),
        section,
        says,
        topic: topic.map(|(topic, _)| links::topic(topic)),
        held: match &known {
            Some(held) => held_by(held),
            None => HeldBy {
                kind: Kind::Test.words(),
                ..HeldBy::default()
            },
        },
    }
}

fn layout(record: &RecordClaim) -> String {
    let count = record.fields.iter().count();
    let names: Vec<&str> = record
        .fields
        .iter()
        .map(|field| field.field.as_str())
        .collect();
    let fields = if count == 1 { "field" } else { "fields" };
    format!(
        "{count} {fields} of {}: {}.",
        record.record,
        names.join(", ")
    )
}

fn sections(file: &FileClaim) -> String {
    let names: Vec<&str> = file
        .sections
        .iter()
        .map(|one| one.section.as_str())
        .collect();
    format!("The sections of {}: {}.", file.file, names.join(", "))
}

fn held_by<'a>(held: &Held<'a>) -> HeldBy<'a> {
    let topic = held.topic;
    let mut by = HeldBy {
        kind: held.kind().map_or("nothing", Kind::words),
        rules: held
            .rules
            .iter()
            .map(|rule| links::rule(&rule.id))
            .collect(),
        why: topic.not_done.as_deref().or(topic.against.as_deref()),
        ..HeldBy::default()
    };
    if held.is_overruled && topic.against.is_none() {
        by.decision = Some(links::topic(&topic.topic));
    }
    for hold in &held.holds {
        match hold {
            Hold::Test { path, name } => by.tests.push(links::file(name, path)),
            Hold::Benchmark { path, work } => by
                .tests
                .push(links::file(&format!("benchmark: {work}"), path)),
            Hold::Document { path, anchor } => {
                by.tests
                    .push(links::file(anchor, &format!("{path}#{anchor}")));
            }
        }
    }
    by
}

/// Returns links to tests, given as `PATH::NAME`.
fn tests<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<Link> {
    let tests = names.into_iter().filter_map(|test| test.split_once("::"));
    tests.map(|(path, name)| links::file(name, path)).collect()
}

/// Returns how the decision on a silence is verified.
fn answer<'a>(spec: &'a Spec, silence: &'a Silence) -> Answer<'a> {
    let rules = spec.all_rules().map(|(_, rule)| rule);
    let name = silence.silence.as_str();
    let resting = rules.filter(|rule| rule.settled_by.iter().any(|known| known.value == name));
    Answer {
        question: &silence.question,
        topic: links::topic(&silence.silence),
        held: HeldBy {
            rules: resting.map(|rule| links::rule(&rule.id)).collect(),
            tests: tests(silence.tested_by.iter().map(|test| test.as_str())),
            why: silence.no_rule.as_deref(),
            ..HeldBy::default()
        },
    }
}
