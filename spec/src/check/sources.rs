//! Checks that the sources' claims are comparable and that the spec contains their subjects.

use super::{has_term, wires_exist};
use crate::diagnostic::Diagnostic;
use crate::load::Spec;
use crate::model::{FieldClaim, FieldSpec, FileClaim, Form, RecordClaim, Statement};
use crate::reconcile::{constant_key, formula_base, section_record};
use crate::yaml::At;

pub(super) fn check(spec: &Spec, faults: &mut Vec<Diagnostic>) {
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
