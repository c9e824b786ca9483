//! Names: unique where they are given, known where they are used.

use std::collections::BTreeMap;

use crate::diagnostic::Diagnostic;
use crate::load::Spec;
use crate::reconcile::constant_key;
use crate::yaml::{At, Place};

/// Names of one kind, each given once.
pub(super) struct Unique {
    kind: &'static str,
    seen: BTreeMap<String, Place>,
}

impl Unique {
    pub(super) const fn new(kind: &'static str) -> Self {
        Self {
            kind,
            seen: BTreeMap::new(),
        }
    }

    pub(super) fn add(&mut self, name: &At<String>, faults: &mut Vec<Diagnostic>) {
        if let Some(first) = self.seen.insert(name.value.clone(), name.place) {
            let why = format!("duplicate {} `{name}`", self.kind);
            faults.push(Diagnostic::error(name.place, why).related(first, "first here"));
        }
    }
}

pub(super) fn check(spec: &Spec, faults: &mut Vec<Diagnostic>) {
    records(spec, faults);
    enums(spec, faults);
    constants(spec, faults);
    topics(spec, faults);
    session(spec, faults);
}

fn records(spec: &Spec, faults: &mut Vec<Diagnostic>) {
    let (mut names, mut c_names) = (Unique::new("record"), Unique::new("C name"));
    for record in &spec.records {
        names.add(&record.record, faults);
        c_names.add(&record.c_name, faults);
        let is_listed = spec
            .format
            .records
            .iter()
            .any(|name| name.value == record.record.value);
        if !is_listed {
            let why = format!(
                "the record `{}` is not listed in format.yaml",
                record.record
            );
            faults.push(Diagnostic::error(record.record.place, why));
        }
    }
    let mut listed = Unique::new("record");
    for name in &spec.format.records {
        listed.add(name, faults);
        if spec.record(name).is_none() {
            let why = format!("there is no record `{name}` in records/");
            faults.push(Diagnostic::error(name.place, why));
        }
    }
}

fn enums(spec: &Spec, faults: &mut Vec<Diagnostic>) {
    let mut names = Unique::new("enumeration");
    for enumeration in &spec.enums.enums {
        names.add(&enumeration.name, faults);
        let mut members = Unique::new("member");
        let mut last: Option<u64> = None;
        for member in &enumeration.members {
            members.add(&member.name, faults);
            let value = member.value.value;
            if last.is_some_and(|last| last >= value) {
                let why = format!("the members of `{}` do not ascend", enumeration.name);
                faults.push(Diagnostic::error(member.value.place, why));
            }
            if enumeration.flags && !value.is_power_of_two() {
                let why = format!("the flag `{}` is not one bit", member.name);
                faults.push(Diagnostic::error(member.value.place, why));
            }
            last = Some(value);
        }
    }
}

fn constants(spec: &Spec, faults: &mut Vec<Diagnostic>) {
    let mut names = Unique::new("constant");
    for constant in &spec.constants.constants {
        names.add(&constant.constant, faults);
        let named = constant.is.rsplit_once('.').and_then(|(path, property)| {
            let (record, field) = path.split_once('.')?;
            let known = spec
                .record(record)?
                .fields
                .iter()
                .find(|known| known.name.value == field)?;
            spec.wires()
                .any(|wire| match property {
                    "none" => known.none_in(wire).is_some(),
                    "value" => known.value_in(wire).is_some(),
                    _ => false,
                })
                .then_some(())
        });
        if named.is_none() {
            let why = format!("`{}` names nothing", constant.is);
            let fault = Diagnostic::error(constant.is.place, why);
            faults.push(fault.help("name a field's sentinel or value: `RECORD.FIELD.none`"));
        }
    }
    for source in &spec.sources {
        for constant in &source.constants {
            if constant_key(spec, &constant.constant).is_none() {
                let why = format!("the spec has no constant `{}`", constant.constant);
                faults.push(Diagnostic::error(constant.constant.place, why));
            }
        }
    }
}

fn topics(spec: &Spec, faults: &mut Vec<Diagnostic>) {
    let mut names = Unique::new("topic or silence");
    for topic in &spec.topics {
        names.add(&topic.topic, faults);
        about(spec, &topic.about, faults);
        for decision in &topic.decisions {
            if let Some(term) = decision
                .choice
                .as_ref()
                .filter(|term| topic.terms.get(term).is_none())
            {
                let why = format!("`{}` has no term `{term}`", topic.topic);
                faults.push(Diagnostic::error(term.place, why));
            }
        }
    }
    for silence in &spec.decisions.silences {
        names.add(&silence.silence, faults);
        about(spec, &silence.about, faults);
        if silence.tested_by.is_empty() {
            let why = format!("nothing tests the decision `{}`", silence.silence);
            faults.push(Diagnostic::error(silence.silence.place, why));
        }
        for test in silence.tested_by.iter().filter(|test| !test.contains("::")) {
            if !spec
                .all_rules()
                .any(|(_, rule)| rule.id.value == test.value)
            {
                let why = format!("there is no rule `{test}`");
                let fault = Diagnostic::error(test.place, why);
                faults.push(fault.help("name a rule's id, or a test as PATH::NAME"));
            }
        }
    }
}

/// Every entry names a record, a record's field or an enumeration.
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
            let help = "name a record, RECORD.FIELD, an enumeration, `session` or the manifest";
            faults.push(Diagnostic::error(name.place, why).help(help));
        }
    }
}

fn session(spec: &Spec, faults: &mut Vec<Diagnostic>) {
    let mut paths = Unique::new("entry");
    for entry in &spec.session.entries {
        paths.add(&entry.path, faults);
    }
    let objects = &spec.manifest.objects;
    let mut names = Unique::new("object");
    for object in objects {
        names.add(&object.object, faults);
        let mut fields = Unique::new("field");
        for field in &object.fields {
            fields.add(&field.name, faults);
            let needs_object = matches!(
                field.ty.value,
                crate::model::JsonType::List | crate::model::JsonType::Object
            );
            let is_known = |name: &At<String>| objects.iter().any(|o| o.object.value == name.value);
            if needs_object != field.of.as_ref().is_some_and(is_known) {
                let why = format!("`of` of `{}` must name an object of this file", field.name);
                let why = if needs_object {
                    why
                } else {
                    format!("`{}` takes no `of`", field.name)
                };
                faults.push(Diagnostic::error(field.name.place, why));
            }
        }
    }
}
