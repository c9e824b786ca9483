//! Checks that each name in the generated C headers and the Rust library has one meaning.

use std::collections::{BTreeMap, BTreeSet};

use super::word::is_standard;
use crate::c_names::{self, Owner};
use crate::diagnostic::{Diagnostic, Place};
use crate::layout::{Wire, camel_case};
use crate::load::Spec;
use crate::model::{FieldSpec, RecordSpec};
use crate::resolve::resolve;
use crate::rust_names::{
    BESIDE_ENUMS, BESIDE_KEYS, BESIDE_OBJECTS, DECODED, IN_READERS, METHODS, OF_ENUMS, OF_RECORDS,
    PRELUDE,
};

/// Checks the C headers. Reports at most one clash per name in the spec, because most clashes occur
/// in every wire version and for both accessors.
pub(super) fn headers(spec: &Spec, faults: &mut Vec<Diagnostic>) {
    let layout = resolve(spec);
    let mut reported = BTreeSet::new();
    for &wire in &layout.wires {
        let mut first = BTreeMap::new();
        for (name, owner) in c_names::of_headers(&layout, wire) {
            let place = place(spec, owner).unwrap_or_default();
            let fault = if let Some(other) = first.insert(name.clone(), owner) {
                clash(spec, &name, place, other)
            } else if is_standard(&name) {
                let why = format!("`{name}` is a name of the standard headers of C");
                Diagnostic::error(place, why)
            } else {
                continue;
            };
            if reported.insert(place) {
                faults.push(fault.help("choose another name"));
            }
        }
    }
}

fn clash(spec: &Spec, name: &str, place: Place, other: Owner<'_>) -> Diagnostic {
    let Some(first) = self::place(spec, other) else {
        let why = format!("`{name}` already has a meaning in the C headers");
        return Diagnostic::error(place, why);
    };
    let why = format!("the C headers would define `{name}` twice");
    Diagnostic::error(place, why).related(first, "defines it too")
}

/// Returns the place that determines a name's form, or `None` for a name of the headers themselves.
fn place(spec: &Spec, owner: Owner<'_>) -> Option<Place> {
    match owner {
        Owner::Header => None,
        Owner::Constant(name) => {
            let mut constants = spec.constants.constants.iter().map(|it| &it.constant);
            Some(constants.find(|it| it.value == name)?.place)
        }
        Owner::Member(enumeration, name) => {
            Some(spec.enumeration(enumeration)?.member(name)?.name.place)
        }
        Owner::Record(name) => Some(spec.record(name)?.record.place),
        Owner::Field(record, name) => Some(spec.record(record)?.field(name)?.name.place),
    }
}

/// Checks the Rust library.
pub(super) fn library(spec: &Spec, faults: &mut Vec<Diagnostic>) {
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
