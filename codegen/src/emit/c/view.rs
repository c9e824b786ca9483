//! The data for the templates: the layout's names and numbers as C names and literals.

use atf_spec::c_names::{FieldNames, GUARD_OF_EVERY_WIRE, Names, guard, is_shared};
use atf_spec::layout::{Constant, ConstantValue, Enum, Field, Layout, Member, Record};
use atf_spec::layout::{Scalar, Value as Fixed, Wire};
use serde_json::{Value, json};

use super::text;

/// Returns the header for all wire versions, with the version in each name.
pub(super) fn of_every_wire(layout: &Layout) -> Value {
    let versions = layout.wires.iter();
    let versions = versions.map(|&wire| version(layout, wire, Names::WithTheWire(wire)));
    let shared = layout.constants.iter().filter(|it| is_shared(layout, it));
    let constants = shared.map(|it| constant(it, &it.values[0], &it.name));
    json!({
        "file": "atf_wire.h",
        // The Swift module.
        "module": "AtfWire",
        "guard": GUARD_OF_EVERY_WIRE,
        // The include guards of the headers that define the same names.
        "rivals": [],
        "sources": layout.sources,
        // The definitions common to all wire versions.
        "enums": layout.enums.iter().map(enumeration).collect::<Vec<_>>(),
        "constants": constants.collect::<Vec<_>>(),
        "wires": versions.collect::<Vec<_>>(),
    })
}

/// Returns the header for one wire version, under the names from the sources.
pub(super) fn of_one_wire(layout: &Layout, wire: Wire) -> Value {
    let rivals = layout.wires.iter().filter(|&&other| other != wire);
    let rivals = rivals.map(|&other| guard(other));
    let mut header = of_every_wire(layout);
    header["file"] = format!("atf_v{wire}.h").into();
    header["module"] = format!("AtfV{wire}").into();
    header["guard"] = guard(wire).into();
    header["rivals"] = rivals.collect();
    header["wires"] = json!([version(layout, wire, Names::OfTheSources)]);
    header
}

fn version(layout: &Layout, wire: Wire, names: Names) -> Value {
    let own = layout.constants.iter().filter(|it| !is_shared(layout, it));
    let constants = own.filter_map(|it| {
        let value = it.values.iter().find(|value| value.wire == wire)?;
        Some(constant(it, value, &names.constant(&it.name)))
    });
    let records = layout.records.iter();
    let records = records.filter_map(|it| record(layout, it, wire, names));
    json!({
        "wire": wire,
        "prefix": names.prefix(),
        "constants": constants.collect::<Vec<_>>(),
        "records": records.collect::<Vec<_>>(),
    })
}

fn enumeration(known: &Enum) -> Value {
    let member = |member: &Member| {
        let value = if known.flags {
            format!("0x{:X}u", member.value)
        } else {
            text::number(member.value, Scalar::U32)
        };
        json!({
            "name": known.c_name(member),
            "doc": member.doc,
            "sources": sources(&member.sources),
            "value": value,
        })
    };
    json!({
        "doc": known.doc,
        "flags": known.flags,
        "members": known.members.iter().map(member).collect::<Vec<_>>(),
    })
}

fn constant(constant: &Constant, value: &ConstantValue, name: &str) -> Value {
    json!({
        "name": name,
        "doc": constant.doc,
        "sources": sources(&constant.sources),
        "value": text::number(value.value, value.scalar),
    })
}

/// Returns a record in one wire version, or `None` if it has no layout in that version.
pub(super) fn record(layout: &Layout, record: &Record, wire: Wire, names: Names) -> Option<Value> {
    let fields = record.layout(wire)?.fields.iter();
    let fields = fields.map(|it| field(layout, it, &names.field(record, it)));
    Some(json!({
        "name": record.name,
        "title": record.title,
        "file": record.file,
        "doc": record.doc,
        "size": record.size,
        "followed_by": record.followed_by,
        "wire": wire,
        "c_type": names.record(record),
        "size_macro": names.size(record),
        "fields": fields.collect::<Vec<_>>(),
    }))
}

fn field(layout: &Layout, field: &Field, names: &FieldNames) -> Value {
    let scalar = field.ty.scalar;
    let bits = 8 * scalar.size();
    let (number, bytes) = match &field.value {
        Some(Fixed::Number(value)) => (Some(text::number(*value, scalar)), None),
        Some(Fixed::Text(bytes)) => (None, Some(bytes)),
        None => (None, None),
    };
    json!({
        "name": field.name,
        // The names of its macros and accessors.
        "names": names,
        "offset": field.offset,
        "size": field.ty.size(),
        // The C type of the elements, their number and their size.
        "c_type": format!("uint{bits}_t"),
        "count": field.ty.count,
        "element_size": scalar.size(),
        "bits": bits,
        "doc": field.doc,
        "facts": facts(layout, field),
        "number": number,
        "max": field.max.map(|max| text::number(max, scalar)),
        "string": bytes.map(|bytes| text::string(bytes)),
        "initialiser": bytes.map(|bytes| text::initialiser(bytes)),
    })
}

/// Describes everything about a field except its meaning, in sentences.
fn facts(layout: &Layout, field: &Field) -> String {
    let mut facts = vec![format!("Offset {}.", field.offset)];
    facts.extend(field.units.as_ref().map(|units| format!("Unit: {units}.")));
    facts.extend(field.value.as_ref().map(|value| format!("Always {value}.")));
    facts.extend(field.max.map(|max| format!("At most {max}.")));
    facts.extend(field.none.map(|none| format!("0x{none:X} means \"none\".")));
    let name = field.enumeration.as_ref();
    let enumeration = name.and_then(|name| layout.enumeration(name));
    facts.extend(enumeration.map(|enumeration| {
        let kind = if enumeration.flags { "Bits" } else { "Values" };
        format!("{kind}: {}_*.", enumeration.c_prefix)
    }));
    facts.extend(field.constraints.iter().cloned());
    facts.push(sources(&field.sources));
    facts.join(" ")
}

fn sources(ids: &[String]) -> String {
    if ids.is_empty() {
        "No source.".to_owned()
    } else {
        format!("[{}]", ids.join(" "))
    }
}
