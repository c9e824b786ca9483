//! Shows the rules that failures mention, with their requirements, decisions and sources.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Value, json};

use crate::charge;
use crate::results::{Outcome, Results};
use crate::rules::{self, Decision, Exclusion, Rule};
use atf_report::html::shown;

/// A rule's id, with a link to its text if the spec defines the rule.
#[derive(Serialize)]
pub(super) struct RuleLink {
    id: String,
    pub(super) rule: String,
    is_known: bool,
}

impl RuleLink {
    pub(super) fn new(id: &str) -> Self {
        Self {
            id: shown(id),
            rule: charge::sentence(id).unwrap_or_default(),
            is_known: rules::find(id).is_some(),
        }
    }

    /// Returns the approximate size of the rule's id and text, in bytes.
    pub(super) fn size(&self) -> usize {
        self.id.len() + self.rule.len()
    }
}

/// Returns the full texts of the rules that failures mention, in the spec's order.
pub(super) fn named(results: &Results) -> Vec<Value> {
    let mut named = BTreeSet::new();
    for case in &results.cases {
        if let Outcome::Failed { differences, .. } = &case.outcome {
            named.extend(case.rules.iter().map(String::as_str));
            named.extend(differences.iter().filter_map(|it| it.rule.as_deref()));
        }
    }
    let all = rules::ALL.iter().filter(|rule| named.contains(rule.id));
    all.copied().map(text).collect()
}

fn text(rule: &Rule) -> Value {
    let decisions = rule.settled_by.iter();
    let decisions = decisions.filter_map(|topic| rules::decision(topic));
    json!({
        "id": rule.id,
        // The rule's anchor in the reference.
        "anchor": rule.id.to_ascii_lowercase(),
        "rule": rule.rule,
        "severity": rule.severity.name(),
        "note": rule.note,
        "excludes": rule.excludes.iter().map(excluded).collect::<Value>(),
        "sources": rule.sources.iter().map(|id| source(id)).collect::<Value>(),
        "decisions": decisions.map(decision).collect::<Value>(),
    })
}

/// Returns a wrong verdict and the reason in one sentence.
fn excluded(exclusion: &Exclusion) -> String {
    let when = if exclusion.if_followed {
        " if the rule is followed"
    } else {
        ""
    };
    let said = exclusion.sentences.iter();
    let said = said.map(|said| format!("{}: {}", said.lines, said.says));
    let reasons = exclusion.phantom.map(str::to_owned).into_iter().chain(said);
    let reasons: Vec<_> = reasons.collect();
    let verdict = exclusion.verdict.name();
    format!("{verdict}{when} ({})", reasons.join(" "))
}

fn source(id: &str) -> Value {
    let found = rules::SOURCES.iter().find(|(known, _)| *known == id);
    json!({"id": id, "title": found.map_or("", |(_, title)| title)})
}

fn decision(decision: &Decision) -> Value {
    json!({
        "topic": decision.topic,
        "question": decision.question,
        "answer": decision.answer,
        "reason": decision.reason,
        "sources": decision.sources.join(", "),
    })
}
