//! Claims are named where they are relied upon: each list of `claims` holds just the sources that
//! make one.

use std::collections::BTreeSet;

use super::names::Unique;
use crate::diagnostic::Diagnostic;
use crate::load::Spec;
use crate::model::Form;
use crate::reconcile::{Claims, How, formula_base};
use crate::yaml::{At, Place};

pub(super) fn check(spec: &Spec, claims: &Claims, faults: &mut Vec<Diagnostic>) {
    let mut ids = Unique::new("source");
    for source in &spec.sources {
        ids.add(&source.source, faults);
        if !spec.wires().any(|wire| wire == source.wire.value) {
            let why = format!("there is no wire version {}", source.wire);
            faults.push(Diagnostic::error(source.wire.place, why));
        }
    }
    claim_forms(spec, faults);
    for record in &spec.records {
        for field in &record.fields {
            let subject = format!("{}.{}", record.record, field.name);
            let made = sources(claims, |key| key.subject == subject);
            compare(&subject, &field.claims, &made, field.name.place, faults);
        }
    }
    for enumeration in &spec.enums.enums {
        for member in &enumeration.members {
            let subject = format!("{}.{}", enumeration.name, member.name);
            let made = sources(claims, |key| key.to_string() == subject);
            compare(&subject, &member.claims, &made, member.name.place, faults);
        }
    }
    for topic in &spec.topics {
        let made = sources(claims, |key| key.subject == topic.topic.value);
        compare(
            &topic.topic,
            &topic.claims,
            &made,
            topic.topic.place,
            faults,
        );
        terms(topic, claims, faults);
    }
    for entry in &spec.session.entries {
        for id in entry.claims.iter().filter(|id| spec.source(id).is_none()) {
            faults.push(Diagnostic::error(
                id.place,
                format!("there is no source `{id}`"),
            ));
        }
    }
}

/// Claims that cannot be compared are faults of the claim, not of what it claims.
fn claim_forms(spec: &Spec, faults: &mut Vec<Diagnostic>) {
    for source in &spec.sources {
        for record in &source.records {
            for field in &record.fields {
                let what = match record.form {
                    Form::Struct if field.ty.is_none() => "a struct's field needs a type",
                    Form::Struct if field.offset.is_some() => "a struct's field has no offset",
                    Form::Table if field.offset.is_none() => "a table's field needs an offset",
                    Form::Table if field.size.is_none() => "a table's field needs a size",
                    _ => continue,
                };
                faults.push(Diagnostic::error(field.field.place, what));
            }
        }
        for statement in &source.statements {
            if let Some(formula) = &statement.formula
                && formula_base(formula).is_none()
            {
                let why = "expected `seq * NUMBER` or `NAME + seq * NUMBER`";
                faults.push(Diagnostic::error(formula.place, why));
            }
            if statement.term.is_some() == statement.formula.is_some() {
                let why = "a statement takes either a term or a formula";
                faults.push(Diagnostic::error(statement.topic.place, why));
            }
        }
    }
}

fn sources(claims: &Claims, is_about: impl Fn(&crate::reconcile::Key) -> bool) -> BTreeSet<&str> {
    let claims = claims
        .iter()
        .filter(|(key, _)| is_about(key))
        .flat_map(|(_, claims)| claims);
    claims
        .filter(|claim| claim.how != How::Omits)
        .map(|claim| claim.source.as_str())
        .collect()
}

fn compare(
    subject: &str,
    listed: &[At<String>],
    made: &BTreeSet<&str>,
    place: Place,
    faults: &mut Vec<Diagnostic>,
) {
    for id in listed.iter().filter(|id| !made.contains(id.as_str())) {
        faults.push(Diagnostic::error(
            id.place,
            format!("{id} claims nothing on {subject}"),
        ));
    }
    let is_missing = |id: &&&str| !listed.iter().any(|listed| listed.value == **id);
    let missing: Vec<&str> = made.iter().filter(is_missing).copied().collect();
    if !missing.is_empty() {
        let why = format!("`claims` of {subject} lacks {}", missing.join(", "));
        faults.push(Diagnostic::error(place, why));
    }
}

/// Every claimed term is one of the topic's, and every term of the topic is claimed.
fn terms(topic: &crate::model::Topic, claims: &Claims, faults: &mut Vec<Diagnostic>) {
    let is_here = |key: &crate::reconcile::Key| key.subject == topic.topic.value;
    let claims: Vec<_> = claims
        .iter()
        .filter(|(key, _)| is_here(key))
        .flat_map(|(_, c)| c)
        .collect();
    for claim in claims
        .iter()
        .filter(|claim| topic.terms.get(&claim.value).is_none())
    {
        let why = format!("`{}` has no term `{}`", topic.topic, claim.value);
        faults.push(Diagnostic::error(claim.place, why).related(topic.topic.place, "the topic"));
    }
    let chosen = |term: &str| {
        topic
            .decisions
            .iter()
            .filter_map(|d| d.choice.as_ref())
            .any(|choice| choice.value == term)
    };
    for (term, _) in topic.terms.iter() {
        if !claims.iter().any(|claim| claim.value == term.value) && !chosen(term) {
            let why = format!("no source takes the stance `{term}`");
            faults.push(Diagnostic::error(term.place, why));
        }
    }
}
