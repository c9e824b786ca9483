//! `spec why`: shows each source's claims about a field, a record, an enumeration or a topic, and
//! the decision.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;

use atf_spec::model::RuleSpec;
use atf_spec::reconcile::{Claim, Key};
use atf_spec::yaml::At;

use super::{Context, invalid, paragraph};

/// Options of `spec why`.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  $ atf-codegen spec why index_footer.reserved")]
pub(super) struct Options {
    /// `RECORD.FIELD`, a record, an enumeration, a topic of behaviour/, a silence, a rule's id, or
    /// a property as listed by `spec conflicts`: `index_footer.size`, `os.windows`
    subject: String,
}

pub(super) fn run(options: &Options, context: &Context<'_>) -> io::Result<String> {
    let subject = options.subject.as_str();
    let mut out = String::new();
    let is_known = introduce(context, subject, &mut out);
    let is_about = |key: &Key| key.subject == subject || key.to_string() == subject;
    let claims = context.found.claims.iter();
    let mut has_claims = false;
    for (key, claims) in claims.filter(|(key, _)| is_about(key)) {
        has_claims = true;
        explain(context, key, claims, &mut out);
    }
    if !is_known && !has_claims {
        let mut why = format!(
            "the spec has no `{subject}`; name RECORD.FIELD, a record, an enumeration, a topic, a \
             silence, a rule's id, or a property listed by `spec conflicts`"
        );
        let near = near(context, subject);
        if !near.is_empty() {
            let _ = write!(why, "; did you mean {}?", near.join(", "));
        }
        return Err(invalid(why));
    }
    for rule in context.spec.all_rules() {
        let mut subjects = rule.about.iter().chain(&rule.settled_by);
        if subjects.any(|about| about.value == subject) {
            paragraph(&mut out, 2, &format!("{}: {}", rule.id, rule.rule));
        }
    }
    Ok(out)
}

/// Returns all names that contain this word.
fn near(context: &Context<'_>, word: &str) -> Vec<String> {
    let spec = context.spec;
    let word = word.to_lowercase();
    let silences = spec.decisions.silences.iter();
    let rules = spec.all_rules().map(|rule| rule.id.value.clone());
    let subjects = context.found.claims.keys().map(|key| key.subject.clone());
    let silences = silences.map(|silence| silence.silence.value.clone());
    let names = subjects.chain(silences).chain(rules);
    let near = names.filter(|name| name.to_lowercase().contains(&word));
    near.collect::<BTreeSet<_>>().into_iter().collect()
}

fn explain_rule(rule: &RuleSpec, out: &mut String) {
    let _ = writeln!(out, "{}", rule.id);
    paragraph(out, 2, &rule.rule);
    if let Some(note) = &rule.note {
        paragraph(out, 2, note);
    }
    let (severity, reader) = (rule.severity.value.name(), rule.reader.value.name());
    let _ = writeln!(out, "  severity: {severity}; a reader: {reader}");
    for (title, names) in [
        ("about", join(&rule.about)),
        ("sources", join(&rule.sources)),
        ("settled by", join(&rule.settled_by)),
    ] {
        if !names.is_empty() {
            paragraph(out, 2, &format!("{title}: {names}"));
        }
    }
}

fn join(names: &[At<String>]) -> String {
    let names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
    names.join(", ")
}

/// Shows the spec's own entry for the subject. Returns whether there is one.
fn introduce(context: &Context<'_>, subject: &str, out: &mut String) -> bool {
    let spec = context.spec;
    if let Some(field) = spec.field(subject) {
        let _ = writeln!(out, "{subject}");
        paragraph(out, 2, &field.means);
        for wire in spec.wires() {
            let place = match field.place_in(wire) {
                Some((offset, ty)) => format!("{ty} at {offset}"),
                None => "absent".to_owned(),
            };
            let _ = writeln!(out, "  wire version {wire}: {place}");
        }
    } else if let Some(record) = spec.record(subject) {
        let _ = writeln!(out, "{subject}: {} bytes in {}", record.size, record.file);
        paragraph(out, 2, &record.means);
    } else if let Some(known) = spec.enumeration(subject) {
        let _ = writeln!(out, "{subject}");
        paragraph(out, 2, &known.means);
    } else if let Some(topic) = spec.topic(subject) {
        let _ = writeln!(out, "{subject}");
        paragraph(out, 2, &topic.question);
        for (term, means) in topic.terms.iter() {
            paragraph(out, 4, &format!("{term}: {means}"));
        }
    } else if let Some(silence) = spec.silence(subject) {
        let _ = writeln!(out, "{subject}: no source answers this");
        paragraph(out, 2, &silence.question);
        paragraph(out, 2, &silence.decision);
        paragraph(out, 4, &silence.reason);
        let _ = writeln!(out, "    confidence: {}", silence.confidence.name());
        let _ = writeln!(out, "    tested by: {}", join(&silence.tested_by));
    } else if let Some(rule) = spec.rule(subject) {
        explain_rule(rule, out);
    } else {
        return false;
    }
    out.push('\n');
    true
}

fn explain(context: &Context<'_>, key: &Key, claims: &[Claim], out: &mut String) {
    let _ = writeln!(out, "  {}", key.property);
    for claim in claims {
        let verb = claim.how.verb();
        let place = context.compiled.files.locate(claim.place);
        let _ = writeln!(out, "    {}  {} ({verb})", claim.source, claim.value);
        let says = claim.says.as_ref();
        let says = says.map_or_else(String::new, |says| format!(" — {says}"));
        paragraph(out, 8, &format!("{}{says} [{place}]", claim.section));
    }
    let mut disagreements = context.found.disagreements.iter();
    let found = disagreements.find(|found| found.key == *key);
    match found.and_then(|found| found.settlement.as_ref()) {
        None => out.push_str(" all agree\n"),
        Some(settlement) => {
            let decision = &settlement.decision;
            let title = format!("{}: {}", decision.decision.name(), decision.title);
            paragraph(out, 4, &title);
            paragraph(out, 6, &decision.reason);
            let place = context.compiled.files.locate(settlement.place);
            let confidence = decision.confidence.name();
            let _ = writeln!(out, "      confidence: {confidence} [{place}]");
        }
    }
    out.push('\n');
}
