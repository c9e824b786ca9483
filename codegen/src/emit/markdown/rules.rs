//! The page with all conformance rules.

use atf_spec::layout::Wire;
use atf_spec::load::Spec;
use atf_spec::model::{Binds, Exclusion, ReaderDoes, RuleSpec, RulesFile, Severity, Verdict, When};
use serde::Serialize;

use super::Book;
use super::links::{self, Link};
use super::text::sentence;

#[derive(Serialize)]
pub(super) struct Page<'a> {
    count: usize,
    files: Vec<File<'a>>,
}

/// The rules of one file.
#[derive(Serialize)]
struct File<'a> {
    title: Link,
    prefix: &'a str,
    rules: Vec<Rule<'a>>,
}

#[derive(Serialize)]
struct Rule<'a> {
    id: &'a str,
    /// The requirement, in Markdown.
    text: String,
    severity: Severity,
    binds: &'a [Binds],
    reader: ReaderDoes,
    allows: Vec<Verdict>,
    excludes: Vec<Wrong<'a>>,
    wires: Vec<Wire>,
    about: Vec<Link>,
    sources: Vec<&'a str>,
    settled_by: Vec<Link>,
    note: Option<&'a str>,
    untestable: Option<&'a str>,
}

/// A verdict that a rule excludes.
#[derive(Serialize)]
struct Wrong<'a> {
    verdict: Verdict,
    if_followed: bool,
    phantom: Option<&'a str>,
    sentences: Vec<Said<'a>>,
}

/// A sentence of a source.
#[derive(Serialize)]
struct Said<'a> {
    lines: String,
    says: &'a str,
}

fn wrong<'a>(spec: &'a Spec, rule: &'a RuleSpec, exclusion: &'a Exclusion) -> Wrong<'a> {
    let sentences = exclusion.lines.iter().map(|cited| Said {
        lines: cited.to_string(),
        says: spec.sentence(rule, cited).unwrap_or_default(),
    });
    Wrong {
        verdict: exclusion.verdict.value,
        if_followed: exclusion.when == When::Followed,
        phantom: exclusion.phantom.as_deref(),
        sentences: sentences.collect(),
    }
}

/// A rule in the table of another page.
#[derive(Serialize)]
pub(super) struct Summary {
    rule: Link,
    /// The requirement, in Markdown.
    text: String,
    severity: Severity,
    reader: ReaderDoes,
    wires: Vec<Wire>,
}

/// Returns the rules about a subject.
pub(super) fn about(spec: &Spec, is_it: impl Fn(&str) -> bool) -> Vec<Summary> {
    let rules = spec.all_rules().map(|(_, rule)| rule);
    rules
        .filter(|rule| rule.about.iter().any(|name| is_it(&name.value)))
        .map(|rule| Summary {
            rule: links::rule(&rule.id),
            text: text(rule),
            severity: rule.severity.value,
            reader: rule.reader.value,
            wires: spec.wires_of(rule),
        })
        .collect()
}

/// Formats the requirement in Markdown. It may start with the name of the field that the rule is
/// about.
fn text(rule: &RuleSpec) -> String {
    let about = rule.about.iter().map(|name| name.as_str());
    let fields: Vec<&str> = about
        .filter_map(|name| Some(name.split_once('.')?.1))
        .collect();
    sentence(&rule.rule, &fields)
}

pub(super) fn page<'a>(book: &Book<'a>) -> Page<'a> {
    let file = |file: &'a RulesFile| File {
        title: Link::new(
            &file.title,
            format!("{}#{}", links::RULES, anchor(&file.prefix)),
        ),
        prefix: &file.prefix,
        rules: file
            .rules
            .iter()
            .map(|known| rule(book.spec, known))
            .collect(),
    };
    Page {
        count: book.spec.all_rules().count(),
        files: book.spec.rules.iter().map(file).collect(),
    }
}

/// Returns the anchor of a file's heading, which is the prefix of its rules.
fn anchor(prefix: &str) -> String {
    prefix.to_ascii_lowercase()
}

fn rule<'a>(spec: &'a Spec, rule: &'a RuleSpec) -> Rule<'a> {
    Rule {
        id: &rule.id,
        text: text(rule),
        severity: rule.severity.value,
        binds: &rule.binds,
        reader: rule.reader.value,
        allows: rule.allows.iter().map(|verdict| verdict.value).collect(),
        excludes: rule
            .excludes
            .iter()
            .map(|it| wrong(spec, rule, it))
            .collect(),
        wires: spec.wires_of(rule),
        about: rule
            .about
            .iter()
            .map(|name| links::subject(spec, name))
            .collect(),
        sources: rule.sources.iter().map(|source| source.as_str()).collect(),
        settled_by: rule
            .settled_by
            .iter()
            .map(|name| links::topic(name))
            .collect(),
        note: rule.note.as_deref(),
        untestable: rule.untestable.as_deref(),
    }
}
