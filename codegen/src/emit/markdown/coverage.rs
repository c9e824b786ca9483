//! The page of what each source says, with the rules that hold it.

use atf_spec::load::Spec;
use atf_spec::model::SourceFile;
use serde::Serialize;

use super::Book;
use super::links::{self, Link};

/// What the page says.
#[derive(Serialize)]
pub(super) struct Page<'a> {
    /// How many statements there are in all.
    count: usize,
    sources: Vec<Source<'a>>,
    /// What no source says, and was settled.
    silences: Vec<Answer<'a>>,
}

#[derive(Serialize)]
struct Source<'a> {
    id: &'a str,
    title: &'a str,
    statements: Vec<Said<'a>>,
}

/// One statement of a source.
#[derive(Serialize)]
struct Said<'a> {
    section: &'a str,
    says: &'a str,
    topic: Link,
    held: Held<'a>,
}

/// A silence.
#[derive(Serialize)]
struct Answer<'a> {
    question: &'a str,
    topic: Link,
    held: Held<'a>,
}

/// What holds a topic: rules, or the reason why there are none.
#[derive(Serialize)]
struct Held<'a> {
    rules: Vec<Link>,
    why_not: Option<&'a str>,
}

/// The page.
pub(super) fn page<'a>(book: &Book<'a>) -> Page<'a> {
    let spec = book.spec;
    let source = |source: &'a SourceFile| Source {
        id: &source.source,
        title: &source.title,
        statements: statements(spec, source),
    };
    let sources: Vec<_> = spec.sources.iter().map(source).collect();
    let silences = spec.decisions.silences.iter().map(|silence| Answer {
        question: &silence.question,
        topic: links::topic(&silence.silence),
        held: held(spec, &silence.silence, silence.no_rule.as_deref()),
    });
    Page {
        count: sources.iter().map(|source| source.statements.len()).sum(),
        sources,
        silences: silences.collect(),
    }
}

/// What a source says on topics: of fields first, then in its text.
fn statements<'a>(spec: &'a Spec, source: &'a SourceFile) -> Vec<Said<'a>> {
    let said = |section, says, topic: &str| {
        let known = spec.topics.iter().find(|known| known.topic.value == topic);
        Said {
            section,
            says,
            topic: links::topic(topic),
            held: held(
                spec,
                topic,
                known.and_then(|known| known.no_rule.as_deref()),
            ),
        }
    };
    let mut all = Vec::new();
    for record in &source.records {
        for field in &record.fields {
            let says = field.says.as_deref().unwrap_or(&field.field);
            let facts = field.facts.iter();
            all.extend(facts.map(|(topic, _)| said(record.place.as_str(), says, topic)));
        }
    }
    let statements = source.statements.iter();
    all.extend(statements.map(|one| said(one.place.as_str(), &one.says, &one.topic)));
    all
}

/// What holds a topic or a silence.
fn held<'a>(spec: &'a Spec, name: &str, why_not: Option<&'a str>) -> Held<'a> {
    let rules = spec.all_rules().map(|(_, rule)| rule);
    let resting = rules.filter(|rule| (rule.settled_by.iter()).any(|known| known.value == name));
    Held {
        rules: resting.map(|rule| links::rule(&rule.id)).collect(),
        why_not,
    }
}
