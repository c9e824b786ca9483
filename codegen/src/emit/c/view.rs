//! The data for the templates: the layout's names and numbers as C names and literals.

use atf_spec::c_names::{FieldNames, GUARD_OF_EVERY_WIRE, Names, guard, is_shared};
use atf_spec::layout::{self, Layout, Scalar, SourceDocument, Value, Wire};
use serde::Serialize;

use super::text;

/// A header.
#[derive(Serialize)]
pub(super) struct Header<'a> {
    /// The file name.
    pub(super) file: String,
    /// The Swift module.
    module: String,
    /// The include guard.
    guard: String,
    /// The include guards of the headers that define the same names.
    rivals: Vec<String>,
    sources: &'a [SourceDocument],
    /// The definitions common to all wire versions.
    enums: Vec<Enum<'a>>,
    constants: Vec<Constant<'a>>,
    wires: Vec<WireVersion<'a>>,
}

impl<'a> Header<'a> {
    /// Returns the header for one wire version, under the names from the sources.
    pub(super) fn of_one_wire(layout: &'a Layout, wire: Wire) -> Self {
        let rivals = layout.wires.iter().filter(|&&other| other != wire);
        Self {
            file: format!("atf_v{wire}.h"),
            module: format!("AtfV{wire}"),
            guard: guard(wire),
            rivals: rivals.map(|&other| guard(other)).collect(),
            wires: vec![WireVersion::new(layout, wire, Names::OfTheSources)],
            ..Self::of_every_wire(layout)
        }
    }

    /// Returns the header for all wire versions, with the version in each name.
    pub(super) fn of_every_wire(layout: &'a Layout) -> Self {
        let version = |&wire| WireVersion::new(layout, wire, Names::WithTheWire(wire));
        Self {
            file: "atf_wire.h".to_owned(),
            module: "AtfWire".to_owned(),
            guard: GUARD_OF_EVERY_WIRE.to_owned(),
            rivals: Vec::new(),
            sources: &layout.sources,
            enums: layout.enums.iter().map(Enum::new).collect(),
            constants: shared_constants(layout),
            wires: layout.wires.iter().map(version).collect(),
        }
    }
}

/// The definitions of one wire version.
#[derive(Serialize)]
struct WireVersion<'a> {
    wire: Wire,
    /// The prefix of the accessor functions: `atf_` or `atf_v1_`.
    prefix: String,
    constants: Vec<Constant<'a>>,
    records: Vec<Record<'a>>,
}

impl<'a> WireVersion<'a> {
    fn new(layout: &'a Layout, wire: Wire, names: Names) -> Self {
        let constants = layout
            .constants
            .iter()
            .filter(|constant| !is_shared(layout, constant));
        let constant = |constant: &'a layout::Constant| {
            let value = constant.values.iter().find(|value| value.wire == wire)?;
            Some(Constant::new(
                constant,
                value,
                names.constant(&constant.name),
            ))
        };
        let records = layout.records.iter();
        Self {
            wire,
            prefix: names.prefix(),
            constants: constants.filter_map(constant).collect(),
            records: records
                .filter_map(|r| Record::new(layout, r, wire, names))
                .collect(),
        }
    }
}

#[derive(Serialize)]
struct Enum<'a> {
    doc: &'a str,
    flags: bool,
    members: Vec<Constant<'a>>,
}

impl<'a> Enum<'a> {
    fn new(enumeration: &'a layout::Enum) -> Self {
        let member = |member: &'a layout::Member| Constant {
            name: enumeration.c_name(member),
            doc: &member.doc,
            sources: sources(&member.sources),
            value: if enumeration.flags {
                format!("0x{:X}u", member.value)
            } else {
                text::number(member.value, Scalar::U32)
            },
        };
        Self {
            doc: &enumeration.doc,
            flags: enumeration.flags,
            members: enumeration.members.iter().map(member).collect(),
        }
    }
}

/// A documented macro.
#[derive(Serialize)]
struct Constant<'a> {
    name: String,
    doc: &'a str,
    sources: String,
    value: String,
}

impl<'a> Constant<'a> {
    fn new(constant: &'a layout::Constant, value: &layout::ConstantValue, name: String) -> Self {
        Self {
            name,
            doc: &constant.doc,
            sources: sources(&constant.sources),
            value: text::number(value.value, value.scalar),
        }
    }
}

/// Returns the constants whose type and value are the same in every wire version.
fn shared_constants(layout: &Layout) -> Vec<Constant<'_>> {
    let shared = layout
        .constants
        .iter()
        .filter(|constant| is_shared(layout, constant));
    let constant = |constant| Constant::new(constant, &constant.values[0], constant.name.clone());
    shared.map(constant).collect()
}

/// A record in one wire version.
#[derive(Serialize)]
pub(super) struct Record<'a> {
    name: &'a str,
    title: &'a str,
    file: &'a str,
    doc: &'a str,
    size: u32,
    followed_by: Option<&'a str>,
    wire: Wire,
    /// The record's type in C.
    c_type: String,
    /// The macro for its size: `ATF_INDEX_HEADER_SIZE`.
    size_macro: String,
    fields: Vec<Field<'a>>,
}

impl<'a> Record<'a> {
    /// Returns `None` if the record has no layout in this wire version.
    pub(super) fn new(
        layout: &'a Layout,
        record: &'a layout::Record,
        wire: Wire,
        names: Names,
    ) -> Option<Self> {
        let fields = &record.layout(wire)?.fields;
        Some(Self {
            name: &record.name,
            title: &record.title,
            file: &record.file,
            doc: &record.doc,
            size: record.size,
            followed_by: record.followed_by.as_deref(),
            wire,
            c_type: names.record(record),
            size_macro: names.size(record),
            fields: fields
                .iter()
                .map(|field| Field::new(layout, field, names.field(record, field)))
                .collect(),
        })
    }
}

#[derive(Serialize)]
struct Field<'a> {
    name: &'a str,
    /// The names of its macros and accessors.
    names: FieldNames,
    offset: u32,
    size: u32,
    /// The C type of the elements, followed by their number and size.
    c_type: String,
    count: Option<u32>,
    element_size: u32,
    bits: u32,
    doc: &'a str,
    facts: String,
    number: Option<String>,
    max: Option<String>,
    string: Option<String>,
    initialiser: Option<String>,
}

impl<'a> Field<'a> {
    fn new(layout: &'a Layout, field: &'a layout::Field, names: FieldNames) -> Self {
        let scalar = field.ty.scalar;
        let (number, bytes) = match &field.value {
            Some(Value::Number(value)) => (Some(text::number(*value, scalar)), None),
            Some(Value::Text(bytes)) => (None, Some(bytes)),
            None => (None, None),
        };
        Self {
            name: &field.name,
            names,
            offset: field.offset,
            size: field.ty.size(),
            c_type: format!("uint{}_t", 8 * scalar.size()),
            count: field.ty.count,
            element_size: scalar.size(),
            bits: 8 * scalar.size(),
            doc: &field.doc,
            facts: facts(layout, field),
            number,
            max: field.max.map(|max| text::number(max, scalar)),
            string: bytes.map(|bytes| text::string(bytes)),
            initialiser: bytes.map(|bytes| text::initialiser(bytes)),
        }
    }
}

/// Describes everything about a field except its meaning, in sentences.
fn facts(layout: &Layout, field: &layout::Field) -> String {
    let mut facts = vec![format!("Offset {}.", field.offset)];
    facts.extend(field.units.as_ref().map(|units| format!("Unit: {units}.")));
    facts.extend(field.value.as_ref().map(|value| format!("Always {value}.")));
    facts.extend(field.max.map(|max| format!("At most {max}.")));
    facts.extend(field.none.map(|none| format!("0x{none:X} means \"none\".")));
    let enumeration = field
        .enumeration
        .as_ref()
        .and_then(|name| layout.enumeration(name));
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
