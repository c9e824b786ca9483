//! Checks that every name in use is defined.

use crate::diagnostic::Diagnostic;
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
    for constant in &spec.constants.constants {
        let named = constant.is.rsplit_once('.').and_then(|(path, property)| {
            let (record, field) = path.split_once('.')?;
            let known = spec
                .record(record)?
                .fields
                .iter()
                .find(|known| known.name.value == field)?;
            let is_number = |value: &At<Value>| matches!(value.value, Value::Number(_));
            spec.wires()
                .any(|wire| match property {
                    "none" => known.none_in(wire).is_some(),
                    "value" => known.value_in(wire).is_some_and(is_number),
                    _ => false,
                })
                .then_some(())
        });
        if named.is_none() {
            let why = format!("`{}` does not name a number", constant.is);
            let fault = Diagnostic::error(constant.is.place, why);
            let help =
                "name a field's sentinel or its number: RECORD.FIELD.none, RECORD.FIELD.value";
            faults.push(fault.help(help));
        }
    }
}

fn topics(spec: &Spec, faults: &mut Vec<Diagnostic>) {
    for topic in &spec.topics {
        about(spec, &topic.about, faults);
        let choices = topic.decisions.iter().filter_map(|d| d.choice.as_ref());
        for term in choices.filter(|term| topic.terms.get(term).is_none()) {
            let why = format!("the topic `{}` has no term `{term}`", topic.topic);
            let terms: Vec<&str> = topic.terms.iter().map(|(name, _)| name.as_str()).collect();
            let says = format!("its terms: {}", terms.join(", "));
            faults.push(Diagnostic::error(term.place, why).related(topic.topic.place, says));
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
        let fault = Diagnostic::error(
            choice.place,
            "only a decision on a topic can have a `choice`",
        );
        faults.push(fault.help("delete it: the value in the spec applies"));
    }
}

fn silences(spec: &Spec, faults: &mut Vec<Diagnostic>) {
    let help = "name a rule's id, or a test as PATH::NAME";
    for silence in &spec.decisions.silences {
        about(spec, &silence.about, faults);
        let can_fail = |test: &At<String>| {
            let mut rules = spec.all_rules().map(|(_, rule)| rule);
            rules.all(|rule| rule.id.value != test.value || rule.untestable.is_none())
        };
        if !silence.tested_by.iter().any(can_fail) {
            let why = format!("nothing tests the decision `{}`", silence.silence);
            faults.push(Diagnostic::error(silence.silence.place, why).help(help));
        }
        let is_rule = |test: &At<String>| {
            spec.all_rules()
                .any(|(_, rule)| rule.id.value == test.value)
        };
        let rules = silence.tested_by.iter().filter(|test| !test.contains("::"));
        for test in rules.filter(|test| !is_rule(test)) {
            let why = format!("there is no rule `{test}`");
            faults.push(Diagnostic::error(test.place, why).help(help));
        }
    }
}

/// Checks that every entry refers to a record, a record's field or an enumeration.
pub(super) fn about(spec: &Spec, about: &[At<String>], faults: &mut Vec<Diagnostic>) {
    for name in about {
        let field = name.split_once('.').and_then(|(record, field)| {
            spec.record(record)?
                .fields
                .iter()
                .find(|known| known.name.value == field)
        });
        let is_known = field.is_some()
            || spec.record(name).is_some()
            || spec
                .enums
                .enums
                .iter()
                .any(|known| known.name.value == name.value)
            || name.value == "session"
            || name.value == spec.manifest.file;
        if !is_known {
            let why = format!("the spec has no `{name}`");
            let help = format!(
                "name a record, RECORD.FIELD, an enumeration, session or {}",
                spec.manifest.file
            );
            faults.push(Diagnostic::error(name.place, why).help(help));
        }
    }
}
