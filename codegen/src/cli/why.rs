//! `spec why`: shows each source's claims about a field, a record, an enumeration or a topic, and
//! the decision.

use std::fmt::Write as _;
use std::io;
use std::process::ExitCode;

use atf_spec::reconcile::{Claim, Disagreement, Key};

use super::Context;
use super::text::{paragraph, print};

/// Options of `spec why`.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  $ atf-codegen spec why index_footer.reserved")]
pub(super) struct Options {
    /// `RECORD.FIELD`, a record, an enumeration, a topic of behaviour/, a silence, a rule's id, or
    /// a property as listed by `spec conflicts`: `index_footer.size`, `os.windows`
    subject: String,
}

pub(super) fn run(options: &Options, context: &Context<'_>) -> io::Result<ExitCode> {
    let subject = options.subject.as_str();
    let mut out = String::new();
    let is_known = introduce(context, subject, &mut out);
    let mut has_claims = false;
    for (key, claims) in context
        .found
        .claims
        .iter()
        .filter(|(key, _)| key.subject == subject || key.to_string() == subject)
    {
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
        return Err(io::Error::new(io::ErrorKind::NotFound, why));
    }
    for rule in context.spec.all_rules().map(|(_, rule)| rule) {
        let is_about = rule
            .about
            .iter()
            .chain(rule.settled_by.iter())
            .any(|about| about.value == subject);
        if is_about {
            paragraph(&mut out, 2, &format!("{}: {}", rule.id, rule.rule));
        }
    }
    print(io::stdout(), &out)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns all names that contain this word.
fn near(context: &Context<'_>, word: &str) -> Vec<String> {
    let spec = context.spec;
    let word = word.to_lowercase();
    let silences = spec.decisions.silences.iter();
    let rules = spec.all_rules().map(|(_, rule)| rule.id.value.clone());
    let mut names: Vec<String> = context
        .found
        .claims
        .keys()
        .map(|key| key.subject.clone())
        .chain(silences.map(|silence| silence.silence.value.clone()))
        .chain(rules)
        .filter(|name| name.to_lowercase().contains(&word))
        .collect();
    names.sort();
    names.dedup();
    names
}

/// Shows the rule with this id. Returns whether it exists.
fn rule(context: &Context<'_>, id: &str, out: &mut String) -> bool {
    let Some((_, rule)) = context
        .spec
        .all_rules()
        .find(|(_, rule)| rule.id.value == id)
    else {
        return false;
    };
    let join = |names: &[atf_spec::yaml::At<String>]| {
        let names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
        names.join(", ")
    };
    let _ = writeln!(out, "{id}");
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
    true
}

/// Shows the spec's own entry for the subject. Returns whether there is one.
fn introduce(context: &Context<'_>, subject: &str, out: &mut String) -> bool {
    let spec = context.spec;
    let field = subject.split_once('.').and_then(|(record, field)| {
        spec.record(record)?
            .fields
            .iter()
            .find(|known| known.name.value == field)
    });
    if let Some(field) = field {
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
    } else if let Some(known) = spec
        .enums
        .enums
        .iter()
        .find(|known| known.name.value == subject)
    {
        let _ = writeln!(out, "{subject}");
        paragraph(out, 2, &known.means);
    } else if let Some(topic) = spec
        .topics
        .iter()
        .find(|topic| topic.topic.value == subject)
    {
        let _ = writeln!(out, "{subject}");
        paragraph(out, 2, &topic.question);
        for (term, means) in topic.terms.iter() {
            paragraph(out, 4, &format!("{term}: {means}"));
        }
    } else if let Some(silence) = spec
        .decisions
        .silences
        .iter()
        .find(|silence| silence.silence.value == subject)
    {
        let _ = writeln!(out, "{subject}: no source answers this");
        paragraph(out, 2, &silence.question);
        paragraph(out, 2, &silence.decision);
        paragraph(out, 4, &silence.reason);
        let _ = writeln!(out, "    confidence: {}", silence.confidence.name());
        let tests: Vec<&str> = silence.tested_by.iter().map(|test| test.as_str()).collect();
        let _ = writeln!(out, "    tested by: {}", tests.join(", "));
    } else if !rule(context, subject, out) {
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
        let says = claim
            .says
            .as_ref()
            .map_or(String::new(), |says| format!(" — {says}"));
        paragraph(out, 8, &format!("{}{says} [{place}]", claim.section));
    }
    let found = context
        .found
        .disagreements
        .iter()
        .find(|found| found.key == *key);
    match found.and_then(|found: &Disagreement| found.settlement.as_ref()) {
        None => out.push_str(" all agree\n"),
        Some(settlement) => {
            let decision = &settlement.decision;
            let title = format!("{}: {}", decision.decision.name(), decision.title);
            paragraph(out, 4, &title);
            paragraph(out, 6, &decision.reason);
            let place = context.compiled.files.locate(settlement.place);
            let _ = writeln!(
                out,
                "      confidence: {} [{place}]",
                decision.confidence.name()
            );
        }
    }
    out.push('\n');
}
