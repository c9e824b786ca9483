//! The page with all conformance rules.

use atf_spec::load::Spec;
use atf_spec::model::{Exclusion, RuleSpec, RulesFile, When};
use serde_json::{Value, json};

use super::Book;
use super::links::{self, Link};
use super::text::sentence;

/// Returns the rules about a subject, as rows of the table on another page.
pub(super) fn about(spec: &Spec, is_it: impl Fn(&str) -> bool) -> Vec<Value> {
    let rules = spec.all_rules();
    let rules = rules.filter(|rule| rule.about.iter().any(|name| is_it(name)));
    let row = |rule: &RuleSpec| {
        json!({
            "rule": links::rule(&rule.id),
            "text": text(rule),
            "severity": rule.severity,
            "reader": rule.reader,
            "wires": spec.wires_of(rule),
        })
    };
    rules.map(row).collect()
}

/// Formats the requirement in Markdown. It may start with the name of the field that the rule is
/// about.
fn text(rule: &RuleSpec) -> String {
    let fields = rule.about.iter().filter_map(|name| name.split_once('.'));
    let fields: Vec<&str> = fields.map(|(_, field)| field).collect();
    sentence(&rule.rule, &fields)
}

pub(super) fn page(book: &Book<'_>) -> Value {
    let file = |file: &RulesFile| {
        let anchor = file.prefix.to_ascii_lowercase();
        let rules = file.rules.iter().map(|it| rule(book.spec, it));
        json!({
            "title": Link::new(&file.title, format!("{}#{anchor}", links::RULES)),
            "prefix": file.prefix,
            "rules": rules.collect::<Vec<_>>(),
        })
    };
    json!({
        "count": book.spec.all_rules().count(),
        "files": book.spec.rules.iter().map(file).collect::<Vec<_>>(),
    })
}

fn rule(spec: &Spec, rule: &RuleSpec) -> Value {
    let about = rule.about.iter().map(|name| links::subject(spec, name));
    let settled_by = rule.settled_by.iter().map(|name| links::topic(name));
    let excludes = rule.excludes.iter().map(|it| wrong(spec, rule, it));
    json!({
        "id": rule.id,
        "text": text(rule),
        "severity": rule.severity,
        "binds": rule.binds,
        "reader": rule.reader,
        "allows": rule.allows,
        "excludes": excludes.collect::<Vec<_>>(),
        "wires": spec.wires_of(rule),
        "about": about.collect::<Vec<_>>(),
        "sources": rule.sources,
        "settled_by": settled_by.collect::<Vec<_>>(),
        "note": rule.note,
        "untestable": rule.untestable,
    })
}

/// Returns a verdict that a rule excludes, with the sentences of sources that exclude it.
fn wrong(spec: &Spec, rule: &RuleSpec, exclusion: &Exclusion) -> Value {
    let sentences = exclusion.lines.iter().map(|cited| {
        let says = spec.sentence(rule, cited);
        json!({ "lines": cited, "says": says.unwrap_or_default() })
    });
    json!({
        "verdict": exclusion.verdict,
        "if_followed": exclusion.when == When::Followed,
        "phantom": exclusion.phantom,
        "sentences": sentences.collect::<Vec<_>>(),
    })
}
