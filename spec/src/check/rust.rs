//! Checks that each name in the Rust library has one meaning.

use std::collections::BTreeMap;

use crate::diagnostic::{Diagnostic, Place};
use crate::layout::{Wire, camel_case};
use crate::load::Spec;
use crate::model::{FieldSpec, RecordSpec};
use crate::rust_names::{
    BESIDE_ENUMS, BESIDE_KEYS, BESIDE_OBJECTS, DECODED, IN_READERS, METHODS, OF_ENUMS, OF_RECORDS,
    PRELUDE,
};

pub(super) fn check(spec: &Spec, faults: &mut Vec<Diagnostic>) {
    types(spec, faults);
    for member in spec.enums.enums.iter().flat_map(|it| &it.members) {
        let name = member.name.to_ascii_uppercase();
        refuse(&name, member.name.place, OF_ENUMS, faults);
    }
    for record in &spec.records {
        for wire in spec.wires() {
            constants(record, wire, faults);
        }
        if DECODED.contains(&record.record.as_str()) {
            for field in &record.fields {
                refuse(&field.name, field.name.place, METHODS, faults);
            }
        }
    }
    manifest(spec, faults);
}

/// Finds different meanings of names in one scope.
#[derive(Default)]
struct Scope(BTreeMap<String, Place>);

impl Scope {
    fn add(&mut self, name: &str, place: Place, faults: &mut Vec<Diagnostic>) {
        let first = *self.0.entry(name.to_owned()).or_insert(place);
        if first != place {
            let why = format!("the Rust library would define `{name}` twice");
            let fault = Diagnostic::error(place, why).related(first, "defines it too");
            report(fault, faults);
        }
    }
}

fn refuse(name: &str, place: Place, taken: &[&str], faults: &mut Vec<Diagnostic>) {
    if taken.contains(&name) {
        let why = format!("`{name}` already has a meaning in the Rust library");
        report(Diagnostic::error(place, why), faults);
    }
}

/// Adds a fault, unless it was found in another wire version.
fn report(fault: Diagnostic, faults: &mut Vec<Diagnostic>) {
    let fault = fault.help("choose another name");
    if !faults.contains(&fault) {
        faults.push(fault);
    }
}

fn types(spec: &Spec, faults: &mut Vec<Diagnostic>) {
    let mut scope = Scope::default();
    for record in &spec.records {
        scope.add(&camel_case(&record.record), record.record.place, faults);
    }
    for enumeration in &spec.enums.enums {
        let (name, place) = (camel_case(&enumeration.name), enumeration.name.place);
        refuse(&name, place, BESIDE_ENUMS, faults);
        refuse(&name, place, PRELUDE, faults);
        scope.add(&name, place, faults);
    }
}

/// Checks the constants of a record's fields, by their names in a wire version and in the spec.
fn constants(record: &RecordSpec, wire: Wire, faults: &mut Vec<Diagnostic>) {
    let (mut in_wire, mut in_spec) = (Scope::default(), Scope::default());
    for (field, ..) in record.fields_in(wire) {
        let place = field.name.place;
        for name in constants_of(field, wire, field.name_in(wire)) {
            refuse(&name, place, OF_RECORDS, faults);
            in_wire.add(&name, place, faults);
        }
        for name in constants_of(field, wire, &field.name) {
            refuse(&name, place, OF_RECORDS, faults);
            in_spec.add(&name, place, faults);
        }
    }
}

/// Returns the constants of a field with this name.
fn constants_of(field: &FieldSpec, wire: Wire, name: &str) -> impl Iterator<Item = String> {
    let name = name.to_ascii_uppercase();
    let fixed = field.value_in(wire).map(|_| name.clone());
    let max = field.max.map(|_| format!("{name}_MAX"));
    let none = field.none_in(wire).map(|_| format!("{name}_NONE"));
    [fixed, max, none].into_iter().flatten()
}

/// Checks the types of the manifest's objects and of the enumerations of their keys, and the keys.
fn manifest(spec: &Spec, faults: &mut Vec<Diagnostic>) {
    let objects = &spec.manifest.objects;
    let mut scope = Scope::default();
    let fields = objects.iter().flat_map(|object| &object.fields);
    let used: Vec<&str> = fields
        .filter_map(|field| Some(field.enumeration.as_ref()?.as_str()))
        .collect();
    let enums = spec.enums.enums.iter().map(|enumeration| &enumeration.name);
    for name in enums.filter(|name| used.contains(&name.as_str())) {
        refuse(&camel_case(name), name.place, BESIDE_OBJECTS, faults);
        scope.add(&camel_case(name), name.place, faults);
    }
    for object in objects {
        let (name, place) = (camel_case(&object.object), object.object.place);
        refuse(&name, place, BESIDE_OBJECTS, faults);
        refuse(&name, place, PRELUDE, faults);
        scope.add(&name, place, faults);
        let beside = BESIDE_KEYS
            .iter()
            .filter(|(of, _)| *of == object.object.value);
        let beside: Vec<&str> = beside.map(|(_, key)| *key).collect();
        for field in &object.fields {
            let (key, place) = (field.name.as_str(), field.name.place);
            refuse(key, place, IN_READERS, faults);
            refuse(key, place, &beside, faults);
        }
    }
}
