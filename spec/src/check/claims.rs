//! Checks that each `claims` list contains exactly the sources that make a claim, and that every
//! term of a topic is used.

use std::collections::BTreeSet;

use super::sources_exist;
use crate::diagnostic::Diagnostic;
use crate::load::Spec;
use crate::model::Topic;
use crate::reconcile::{Claims, How, Key};
use crate::yaml::{At, Place};

pub(super) fn check(spec: &Spec, claims: &Claims, faults: &mut Vec<Diagnostic>) {
    let mut compare = |subject: &str, listed: &[At<String>], made: &BTreeSet<&str>, place| {
        compare(spec, subject, listed, made, place, faults);
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

fn compare(
    spec: &Spec,
    subject: &str,
    listed: &[At<String>],
    made: &BTreeSet<&str>,
    place: Place,
    faults: &mut Vec<Diagnostic>,
) {
    sources_exist(spec, listed, faults);
    let is_idle = |id: &&At<String>| spec.source(id).is_some() && !made.contains(id.as_str());
    for id in listed.iter().filter(is_idle) {
        faults.push(id.fault(format!("source {id} makes no claim about {subject}")));
    }
    let is_missing = |id: &&&str| !listed.iter().any(|listed| listed.value == **id);
    let missing: Vec<&str> = made.iter().filter(is_missing).copied().collect();
    if !missing.is_empty() {
        let missing = missing.join(", ");
        let fault = Diagnostic::error(place, format!("`claims` of {subject} is missing {missing}"));
        faults.push(fault.help("`claims` must list every source that makes a claim about it"));
    }
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
