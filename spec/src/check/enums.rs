//! Checks enumerations: members ascend, flags are single bits, and values fit the fields that use
//! them.

use crate::diagnostic::Diagnostic;
use crate::layout::Type;
use crate::load::Spec;
use crate::model::{EnumSpec, FieldSpec};
use crate::yaml::At;

pub(super) fn check(spec: &Spec, faults: &mut Vec<Diagnostic>) {
    for enumeration in &spec.enums.enums {
        members(enumeration, faults);
    }
    for field in spec.records.iter().flat_map(|record| &record.fields) {
        if let Some(name) = &field.enumeration
            && let Some(enumeration) = spec.enumeration(name)
        {
            fits(spec, field, name, enumeration, faults);
        }
    }
}

fn members(enumeration: &EnumSpec, faults: &mut Vec<Diagnostic>) {
    let mut last: Option<At<u64>> = None;
    for member in &enumeration.members {
        let value = member.value;
        if let Some(last) = last.filter(|last| last.value >= value.value) {
            let name = &enumeration.name;
            let why = format!("the members of `{name}` are not in ascending order");
            let fault = value.fault(why);
            faults.push(fault.related(last.place, "the previous member"));
        }
        if enumeration.flags && !value.is_power_of_two() {
            let fault = value.fault(format!("the flag `{}` is not a single bit", member.name));
            faults.push(fault.help("with `flags`, each member is a single-bit mask: 1, 2, 4, 8"));
        }
        last = Some(value);
    }
}

/// Checks that the members fit the field that names their enumeration.
fn fits(
    spec: &Spec,
    field: &FieldSpec,
    name: &At<String>,
    enumeration: &EnumSpec,
    faults: &mut Vec<Diagnostic>,
) {
    if field.reserved {
        faults.push(name.fault("a reserved field cannot have an enumeration"));
    }
    let types = spec.wires().filter_map(|wire| field.place_in(wire));
    let types: Vec<At<Type>> = types.map(|(_, ty)| ty).collect();
    if let Some(ty) = types.iter().find(|ty| ty.count.is_some()) {
        let fault = name.fault("an array cannot have an enumeration");
        faults.push(fault.related(ty.place, "the field's type"));
        return;
    }
    for member in &enumeration.members {
        let is_narrow = |ty: &&At<Type>| member.value.value > ty.scalar.max();
        if let Some(ty) = types.iter().find(is_narrow) {
            let why = format!("{} does not fit in {}", member.value, ty.value);
            let fault = member.value.fault(why);
            faults.push(fault.related(ty.place, format!("the type of `{}`", field.name)));
        }
    }
}
