//! Checks that the fields of each record fill it without gaps in every wire version, and that the
//! members of enumerations fit their fields.

use std::cmp::Ordering;

use crate::diagnostic::Diagnostic;
use crate::layout::{Scalar, Type, Value, Wire};
use crate::load::Spec;
use crate::model::{EnumSpec, FieldSpec, RecordSpec};
use crate::yaml::{At, Place};

pub(super) fn check(spec: &Spec, faults: &mut Vec<Diagnostic>) {
    let wires: Vec<Wire> = spec.wires().collect();
    for record in &spec.records {
        for field in &record.fields {
            check_field(field, &wires, faults);
        }
        for wire in &wires {
            check_filled(record, *wire, faults);
        }
    }
}

/// Checks that a wire version's fields fill the record without gaps or overlaps.
fn check_filled(record: &RecordSpec, wire: Wire, faults: &mut Vec<Diagnostic>) {
    let name = record.record.as_str();
    let mut end = 0_u32;
    let mut before: Option<(&str, Place)> = None;
    for (field, offset, ty) in record.fields_in(wire) {
        let path = format!("{name}.{}", field.name);
        let wrong = match offset.value.cmp(&end) {
            Ordering::Equal => None,
            Ordering::Greater => Some("a gap before"),
            Ordering::Less => Some("an overlap at"),
        };
        if let Some(wrong) = wrong {
            let fault = offset.fault(format!("{wrong} {path} in wire version {wire}"));
            faults.push(match before {
                Some((name, place)) => fault
                    .label(format!("{name} ends at {end}"))
                    .related(place, "the previous field"),
                None => fault.label("the first field must be at offset 0"),
            });
        }
        end = offset.value.saturating_add(ty.size());
        before = Some((field.name.as_str(), field.name.place));
    }
    if end != record.size.value {
        let why = format!("the fields of {name} end at {end} in wire version {wire}");
        let says = format!("the record has {} bytes", record.size.value);
        let fault = record.size.fault(why).label(says);
        faults.push(match before {
            Some((name, place)) => fault.related(place, format!("{name} is the last field")),
            None => fault,
        });
    }
}

fn check_field(field: &FieldSpec, wires: &[Wire], faults: &mut Vec<Diagnostic>) {
    for (name, own) in field.wire.iter() {
        if !wires.iter().any(|wire| wire.to_string() == name.value) {
            let fault = name.fault(format!("there is no wire version `{name}`"));
            faults.push(fault.help("`wires` in format.yaml lists them"));
        }
        let is_placed = own.offset.or(field.offset).is_some() && own.ty.or(field.ty).is_some();
        if !is_placed {
            let field = &field.name;
            let why = format!("`{field}` needs an offset and a type in wire version {name}");
            faults.push(name.fault(why));
        }
    }
    if field.wire.is_empty() && (field.offset.is_none() || field.ty.is_none()) {
        let name = &field.name;
        let why = format!("`{name}` needs an offset and a type, or `wire` with those");
        faults.push(field.name.fault(why));
    }
    for wire in wires {
        let Some((_, ty)) = field.place_in(*wire) else {
            continue;
        };
        if let Some(value) = field.value_in(*wire) {
            check_value(ty, value, faults);
        }
        if let Some(max) = field.max
            && (ty.count.is_some() || max.value >= ty.scalar.max())
        {
            let why = format!("{} is not a valid limit for {}", max.value, ty.value);
            faults.push(max.fault(why).related(ty.place, "the field's type"));
        }
        if let Some(none) = field.none_in(*wire)
            && (ty.count.is_some() || none.value > ty.scalar.max())
        {
            let why = format!("{} does not fit in {}", none.value, ty.value);
            faults.push(none.fault(why).related(ty.place, "the field's type"));
        }
    }
}

fn check_value(ty: At<Type>, value: &At<Value>, faults: &mut Vec<Diagnostic>) {
    let fits = match (&value.value, ty.count) {
        (Value::Number(number), None) => *number <= ty.scalar.max(),
        (Value::Text(text), Some(count)) => {
            let is_ascii = ty.scalar == Scalar::U8 && text.is_ascii();
            is_ascii && u32::try_from(text.len()) == Ok(count)
        }
        _ => false,
    };
    if !fits {
        let why = format!("{} does not fit in {}", value.value, ty.value);
        faults.push(value.fault(why).related(ty.place, "the field's type"));
    }
}

/// Checks enumerations: members ascend, flags are single bits, and values fit the fields that use
/// them.
pub(super) fn enums(spec: &Spec, faults: &mut Vec<Diagnostic>) {
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
