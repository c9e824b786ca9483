//! Checks that each name in the C headers has one meaning.

use std::collections::{BTreeMap, BTreeSet};

use super::word::is_standard;
use crate::c_names::{self, Owner};
use crate::diagnostic::{Diagnostic, Place};
use crate::load::Spec;
use crate::resolve::resolve;

/// Reports at most one clash per name in the spec, because most clashes occur in every wire version
/// and for both accessors.
pub(super) fn check(spec: &Spec, faults: &mut Vec<Diagnostic>) {
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
