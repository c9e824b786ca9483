//! Checks that the sources' claims are comparable, that each `claims` list contains exactly the
//! sources that make a claim, that every term of a topic is used, and that the claims account for
//! each line of the documents.

use std::collections::BTreeSet;

use super::{has_term, sources_exist, wires_exist};
use crate::diagnostic::Diagnostic;
use crate::load::Spec;
use crate::model::{FieldClaim, FieldSpec, FileClaim, Form, RecordClaim, Statement, Topic};
use crate::reconcile::{Claims, How, Key, constant_key, formula_base, section_record};
use crate::text::{Span, spans, tiling};
use crate::yaml::At;

/// Checks that the sources' claims are comparable and that the spec contains their subjects.
pub(super) fn comparable(spec: &Spec, faults: &mut Vec<Diagnostic>) {
    for source in &spec.sources {
        wires_exist(spec, [&source.wire], faults);
        for claim in &source.records {
            record(spec, claim, faults);
        }
        for claim in &source.files {
            sections(spec, claim, faults);
        }
        for claim in &source.constants {
            if constant_key(spec, &claim.constant).is_none() {
                let why = format!("the spec has no constant `{}`", claim.constant);
                let fault = claim.constant.fault(why);
                let help = "name one of constants.yaml, or an enumeration's c_prefix and member";
                faults.push(fault.help(help));
            }
        }
        for claim in &source.statements {
            statement(spec, claim, faults);
        }
    }
}

fn record(spec: &Spec, claim: &RecordClaim, faults: &mut Vec<Diagnostic>) {
    let record = spec.record(&claim.record);
    if record.is_none() {
        let why = format!("there is no record `{}` in records/", claim.record);
        faults.push(claim.record.fault(why));
    }
    for field in &claim.fields {
        form(claim.form, field, faults);
        for (topic, term) in field.facts.iter() {
            stance(spec, topic, term, faults);
        }
        let Some(record) = record else {
            continue;
        };
        let name = field.name();
        match record.field(name) {
            Some(known) => members(spec, known, field, faults),
            None => {
                let why = format!("the record `{}` has no field `{name}`", record.record);
                let fault = name.fault(why);
                faults.push(fault.help("add it, or name the spec's field with `is: NAME`"));
            }
        }
    }
}

/// Checks that a claim has the values that its form needs for a comparison.
fn form(form: Form, field: &FieldClaim, faults: &mut Vec<Diagnostic>) {
    let fault = |what| field.field.fault(what);
    match form {
        Form::Struct if field.ty.is_none() => {
            faults.push(fault("a struct's field needs a type"));
        }
        Form::Struct if field.offset.is_some() => {
            let help = "its offset follows from the fields before it";
            faults.push(fault("a struct's field must not have an offset").help(help));
        }
        Form::Table if field.offset.is_none() => {
            faults.push(fault("a table's field needs an offset"));
        }
        Form::Table if field.size.is_none() => {
            faults.push(fault("a table's field needs a size"));
        }
        _ => {}
    }
    if let (Some(ty), Some(size)) = (field.ty, field.size)
        && ty.size() != size.value
    {
        let why = format!("{} has {} bytes, not {size}", ty.value, ty.size());
        let fault = size.fault(why).related(ty.place, "the type");
        faults.push(fault.help("if a source states both, describe it in two entries"));
    }
}

fn members(spec: &Spec, known: &FieldSpec, claim: &FieldClaim, faults: &mut Vec<Diagnostic>) {
    let Some(used) = &known.enumeration else {
        if !claim.members.is_empty() {
            let why = format!("the field `{}` has no enumeration", known.name);
            let fault = claim.field.fault(why).label("members are claimed here");
            faults.push(fault.related(known.name.place, "the field"));
        }
        return;
    };
    let Some(enumeration) = spec.enumeration(used) else {
        return;
    };
    for (name, _) in claim.members.iter() {
        if enumeration.member(name).is_none() {
            faults.push(name.fault(format!("the enumeration `{used}` has no member `{name}`")));
        }
    }
}

fn sections(spec: &Spec, claim: &FileClaim, faults: &mut Vec<Diagnostic>) {
    let is_file = |name: &str| spec.records.iter().any(|record| record.file.value == name);
    if !is_file(&claim.file) {
        let why = format!("no record belongs to a file `{}`", claim.file);
        faults.push(claim.file.fault(why));
    }
    for section in &claim.sections {
        let name = section_record(&claim.file, &section.section);
        let why = match section.section.as_str() {
            "events" => continue,
            "header" | "footer" if spec.record(&name).is_some() => continue,
            "header" | "footer" => format!("there is no record `{name}` for this section"),
            other => format!("`{other}` is not one of: header, events, footer"),
        };
        faults.push(section.section.fault(why));
    }
}

fn statement(spec: &Spec, claim: &Statement, faults: &mut Vec<Diagnostic>) {
    match (&claim.term, &claim.formula) {
        (Some(term), None) => stance(spec, &claim.topic, term, faults),
        (None, Some(formula)) => match formula_base(formula) {
            Some(value) => {
                let place = formula.place;
                stance(spec, &claim.topic, &At { value, place }, faults);
            }
            None => {
                let why = format!("`{formula}` is not a formula for an event's offset");
                let fault = formula.fault(why);
                faults.push(fault.help("write `seq * NUMBER` or `NAME + seq * NUMBER`"));
            }
        },
        _ => {
            let why = "a statement needs either a term or a formula";
            faults.push(claim.topic.fault(why));
        }
    }
}

/// Checks that a stance is one of its topic's terms.
fn stance(spec: &Spec, topic: &At<String>, term: &At<String>, faults: &mut Vec<Diagnostic>) {
    match spec.topic(topic) {
        Some(known) => has_term(known, term, faults),
        None => {
            faults.push(topic.fault(format!("there is no topic `{topic}` in behaviour/")));
        }
    }
}

/// Checks the `claims` lists and the terms of topics.
pub(super) fn check(spec: &Spec, claims: &Claims, faults: &mut Vec<Diagnostic>) {
    let mut compare = |subject: &str, listed: &[At<String>], made: &BTreeSet<&str>, place| {
        sources_exist(spec, listed, faults);
        let is_idle = |id: &&At<String>| spec.source(id).is_some() && !made.contains(id.as_str());
        for id in listed.iter().filter(is_idle) {
            faults.push(id.fault(format!("source {id} makes no claim about {subject}")));
        }
        let is_missing = |id: &&&str| !listed.iter().any(|listed| listed.value == **id);
        let missing: Vec<&str> = made.iter().filter(is_missing).copied().collect();
        if !missing.is_empty() {
            let why = format!("`claims` of {subject} is missing {}", missing.join(", "));
            let help = "`claims` must list every source that makes a claim about it";
            faults.push(Diagnostic::error(place, why).help(help));
        }
    };
    for record in &spec.records {
        for field in &record.fields {
            let subject = format!("{}.{}", record.record, field.name);
            let made = sources(claims, |key| key.subject == subject);
            compare(&subject, &field.claims, &made, field.name.place);
        }
    }
    for enumeration in &spec.enums.enums {
        for member in &enumeration.members {
            let subject = format!("{}.{}", enumeration.name, member.name);
            let made = sources(claims, |key| key.to_string() == subject);
            compare(&subject, &member.claims, &made, member.name.place);
        }
    }
    for topic in &spec.topics {
        let made = sources(claims, |key| key.subject == topic.topic.value);
        compare(&topic.topic, &topic.claims, &made, topic.topic.place);
    }
    for topic in &spec.topics {
        terms(topic, claims, faults);
    }
}

fn sources(claims: &Claims, is_about: impl Fn(&Key) -> bool) -> BTreeSet<&str> {
    let about = claims.iter().filter(|(key, _)| is_about(key));
    let made = about.flat_map(|(_, claims)| claims);
    let made = made.filter(|claim| claim.how != How::Omits);
    made.map(|claim| claim.source.as_str()).collect()
}

/// Checks that every term of a topic is claimed by a source or chosen by a decision.
fn terms(topic: &Topic, claims: &Claims, faults: &mut Vec<Diagnostic>) {
    let is_here = |(key, _): &(&Key, _)| key.subject == topic.topic.value;
    for (term, _) in topic.terms.iter() {
        let mut claims = claims.iter().filter(is_here).flat_map(|(_, claims)| claims);
        let is_claimed = claims.any(|claim| claim.value == term.value);
        if !is_claimed && !topic.choices().any(|choice| choice.value == term.value) {
            let why = format!("no source takes the stance `{term}`");
            faults.push(term.fault(why).help("delete the term"));
        }
    }
}

/// Checks that each line of the documents either belongs to exactly one claim or has a reason for
/// claiming nothing, and that each span has a digest if and only if its text alone does not prove
/// the reason.
pub(super) fn lines(spec: &Spec, faults: &mut Vec<Diagnostic>) {
    let before = faults.len();
    for source in &spec.sources {
        tiling(source, faults);
    }
    if faults.len() > before {
        return;
    }
    let help = "once the claims are correct, run `atf-codegen spec check --sources DIR --bless`";
    for source in &spec.sources {
        let digests = spec.digests.sources.get(&source.source);
        let digested = spans(source).into_iter().filter(Span::needs_digest);
        let digested: Vec<Span<'_>> = digested.collect();
        for span in &digested {
            let name = span.lines.to_string();
            if digests.and_then(|digests| digests.get(&name)).is_none() {
                let why = format!("{} has no digest for {}", source.source, span.lines.words());
                faults.push(Diagnostic::error(span.place, why).help(help));
            }
        }
        for (name, _) in digests.iter().flat_map(|digests| digests.iter()) {
            let is_claimed = |span: &Span<'_>| span.lines.to_string() == name.value;
            if !digested.iter().any(is_claimed) {
                let id = &source.source;
                let why = format!("{id} has a digest for `{name}`, but no claim has these lines");
                faults.push(name.fault(why).help(help));
            }
        }
    }
    sources_exist(spec, spec.digests.sources.iter().map(|(id, _)| id), faults);
}
