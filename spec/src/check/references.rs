//! Checks that every name in use is defined, and that topics cite something that verifies them.

use super::has_term;
use crate::diagnostic::Diagnostic;
use crate::holds::{Held, Hold};
use crate::layout::Value;
use crate::load::Spec;
use crate::yaml::At;

pub(super) fn check(spec: &Spec, faults: &mut Vec<Diagnostic>) {
    topics(spec, faults);
    silences(spec, faults);
    choices(spec, faults);
}

/// Checks that each constant refers to a number in a record.
pub(super) fn constants(spec: &Spec, faults: &mut Vec<Diagnostic>) {
    let is_number = |value: &At<Value>| matches!(value.value, Value::Number(_));
    for constant in &spec.constants.constants {
        let names_a_number = spec.named_by(constant).is_some_and(|(field, property)| {
            spec.wires().any(|wire| match property {
                "none" => field.none_in(wire).is_some(),
                "value" => field.value_in(wire).is_some_and(is_number),
                _ => false,
            })
        });
        if !names_a_number {
            let why = format!("`{}` does not name a number", constant.is);
            let fault = constant.is.fault(why);
            let help =
                "name a field's sentinel or its number: RECORD.FIELD.none, RECORD.FIELD.value";
            faults.push(fault.help(help));
        }
    }
}

fn topics(spec: &Spec, faults: &mut Vec<Diagnostic>) {
    for topic in &spec.topics {
        about(spec, &topic.about, faults);
        for term in topic.choices() {
            has_term(topic, term, faults);
        }
    }
}

/// Checks that only decisions on topics have a `choice`. Records and enumerations contain the
/// chosen values themselves.
fn choices(spec: &Spec, faults: &mut Vec<Diagnostic>) {
    let records = spec.records.iter().flat_map(|record| {
        let fields = record.fields.iter().flat_map(|field| &field.decisions);
        fields.chain(&record.decisions)
    });
    let enums = spec.enums.enums.iter().flat_map(|known| &known.decisions);
    let choices = records.chain(enums).filter_map(|d| d.choice.as_ref());
    for choice in choices {
        let fault = choice.fault("only a decision on a topic can have a `choice`");
        faults.push(fault.help("delete it: the value in the spec applies"));
    }
}

fn silences(spec: &Spec, faults: &mut Vec<Diagnostic>) {
    let help = "name a rule's id, or a test as PATH::NAME";
    for silence in &spec.decisions.silences {
        about(spec, &silence.about, faults);
        let can_fail = |test: &At<String>| {
            let rule = spec.rule(test);
            rule.is_none_or(|rule| rule.untestable.is_none())
        };
        if !silence.tested_by.iter().any(can_fail) {
            let why = format!("nothing tests the decision `{}`", silence.silence);
            faults.push(silence.silence.fault(why).help(help));
        }
        let rules = silence.tested_by.iter().filter(|test| !test.contains("::"));
        for test in rules.filter(|test| spec.rule(test).is_none()) {
            faults.push(test.fault(format!("there is no rule `{test}`")).help(help));
        }
    }
}

/// Checks that every entry refers to a record, a record's field or an enumeration.
pub(super) fn about(spec: &Spec, about: &[At<String>], faults: &mut Vec<Diagnostic>) {
    for name in about {
        let manifest = &spec.manifest.file;
        let is_known = spec.field(name).is_some()
            || spec.record(name).is_some()
            || spec.enumeration(name).is_some()
            || name.value == "session"
            || name.value == *manifest;
        if !is_known {
            let why = format!("the spec has no `{name}`");
            let help =
                format!("name a record, RECORD.FIELD, an enumeration, session or {manifest}");
            faults.push(name.fault(why).help(help));
        }
    }
}

/// Checks that each topic is verified by something that can fail, or explains why it is not.
pub(super) fn holds(spec: &Spec, faults: &mut Vec<Diagnostic>) {
    let help = "name a test as PATH.rs::NAME, a row as atf/bench/PATH.rs::WORK, or a section as PATH.md#ANCHOR";
    for topic in &spec.topics {
        let invalid = topic.held_by.iter().filter(|it| Hold::parse(it).is_none());
        for hold in invalid {
            let why = format!("`{hold}` is not a valid entry of `held_by`");
            faults.push(hold.fault(why).help(help));
        }
        for (term, _) in topic.terms.iter() {
            let held = Held::new(spec, topic, term);
            if held.kind().is_some() || !topic.held_by.is_empty() {
                continue;
            }
            let why = format!("nothing verifies the topic `{}`", topic.topic);
            let mut fault = topic.topic.fault(why);
            if let Some(rule) = held.rules.first() {
                fault = fault.related(rule.id.place, "this rule has no test cases");
            }
            let help = "list it in the `settled_by` of a rule with test cases, or in `held_by` what \
                        verifies it, or explain in `against` or `not_done`";
            faults.push(fault.help(help));
            break;
        }
    }
}
