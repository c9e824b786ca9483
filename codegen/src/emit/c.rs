//! Emits C headers, which are also valid C++, and the probe that verifies them.
//!
//! The templates in `templates/c/` contain the C code. This module prepares the names, numbers and
//! prose for them. Fields appear in the layout's order without padding, and asserts check their
//! offsets. If a field has a different offset, the C compiler reports an error at that field.

use atf_spec::c_names::{FieldNames, GUARD_OF_EVERY_WIRE, Names, guard, is_shared};
use atf_spec::layout::{Constant, ConstantValue, Enum, Field, Layout, Member, Record};
use atf_spec::layout::{Scalar, Value as Fixed, Wire};
use serde_json::{Value, json};

use crate::GeneratedFile;

const INCLUDE: &str = "atf/include";

/// The width at which prose wraps. A comment may be 96 columns wide, and its last line ends in ` */`.
const COLUMNS: usize = 93;

/// The templates, with the names that `{% include %}` uses.
const TEMPLATES: [(&str, &str); 9] = templates!("c":
    "accessors.h" "definition.h" "header.h" "macros.h" "module.modulemap" "probe.c" "record.h"
    "shared.h" "undef.h"
);

/// Emits the headers for writers and readers in C, C++ and Swift, and the module map. `atf_v1.h`
/// and `atf_v2.h` each cover one wire version and use the sources' names. `atf_wire.h` covers all
/// wire versions.
///
/// # Panics
/// Never, because each header has a name.
#[must_use]
pub fn headers(layout: &Layout) -> Vec<GeneratedFile> {
    let wires = layout.wires.iter();
    let one = wires.map(|&wire| of_one_wire(layout, wire));
    let headers: Vec<Value> = one.chain([of_every_wire(layout)]).collect();
    let file = |name: &str, text| GeneratedFile::new(format!("{INCLUDE}/{name}"), text);
    let modules = render("module.modulemap", &json!({ "headers": headers }));
    let files = headers.iter().map(|header| {
        let name = header["file"].as_str().expect("a header has a name");
        file(name, render("header.h", header))
    });
    files.chain([file("module.modulemap", modules)]).collect()
}

/// Returns the packed C definition of one record and its asserts, as in `atf_v1.h` or `atf_v2.h`,
/// with the includes and macros that they need to compile on their own.
///
/// # Panics
/// Panics if the record has no layout in this wire version. In a resolved layout, each record has
/// one for every wire version.
#[must_use]
pub fn record_definition(layout: &Layout, record: &Record, wire: Wire) -> String {
    let record = self::record(layout, record, wire, Names::OfTheSources)
        .expect("a record has a layout in each wire version");
    render("definition.h", &json!({ "record": record }))
}

/// Emits a program, valid in C and C++, that prints the compiler's layout of `atf_wire.h`, one item
/// per line: records with their sizes, fields with their offsets and sizes, and constants with
/// their values.
#[must_use]
pub fn probe(layout: &Layout) -> GeneratedFile {
    let text = render("probe.c", &of_every_wire(layout));
    GeneratedFile::new("codegen/tests/c/generated/probe.c", text)
}

fn render(template: &str, data: &Value) -> String {
    let mut environment = super::environment(&TEMPLATES);
    environment.add_filter("wrap", wrap);
    super::render(&environment, template, data)
}

/// Returns the header for all wire versions, with the version in each name.
fn of_every_wire(layout: &Layout) -> Value {
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
fn of_one_wire(layout: &Layout, wire: Wire) -> Value {
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
            number(member.value, Scalar::U32)
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
        "value": number(value.value, value.scalar),
    })
}

/// Returns a record in one wire version, or `None` if it has no layout in that version.
fn record(layout: &Layout, record: &Record, wire: Wire, names: Names) -> Option<Value> {
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
        Some(Fixed::Number(value)) => (Some(number(*value, scalar)), None),
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
        "max": field.max.map(|max| self::number(max, scalar)),
        "string": bytes.map(|bytes| string(bytes)),
        "initialiser": bytes.map(|bytes| initialiser(bytes)),
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

/// Wraps `prose` for a comment into lines of at most 93 columns. Each line except the first starts
/// with `prefix`. The template contains the first line's prefix. Newlines in the prose are kept.
fn wrap(prose: &str, prefix: &str) -> String {
    let prose = prose.replace("*/", "* /").replace("/*", "/ *");
    // A trigraph for a backslash, which continues a line.
    let prose = prose.replace("??/", "?? /");
    let letters = COLUMNS - prefix.chars().count();
    let paragraphs = prose.trim().lines();
    let lines = paragraphs.flat_map(|paragraph| super::wrap(paragraph, letters));
    // Empty lines have no trailing space.
    let lines = lines.enumerate().map(|(number, line)| match number {
        0 => line,
        _ => format!("{prefix}{line}").trim_end().to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns a number as a C literal. The type is given by a suffix instead of a cast, so that `#if`
/// and Swift understand the literal too. A type's maximum value is written in hexadecimal.
fn number(value: u64, scalar: Scalar) -> String {
    let suffix = if scalar == Scalar::U64 { "ull" } else { "u" };
    if value == scalar.max() {
        format!("0x{value:X}{suffix}")
    } else {
        format!("{value}{suffix}")
    }
}

/// Returns a C string literal without trigraphs.
fn string(bytes: &str) -> String {
    let bytes = bytes.escape_default().to_string();
    format!("\"{}\"", bytes.replace("??", "?\\?"))
}

/// Returns an initialiser for an array of these bytes without a terminating NUL.
fn initialiser(bytes: &str) -> String {
    let bytes: Vec<String> = bytes.bytes().map(|byte| format!("0x{byte:02X}")).collect();
    format!("{{ {} }}", bytes.join(", "))
}

#[cfg(test)]
mod tests {
    use super::wrap;

    #[test]
    fn newlines_are_kept_without_trailing_blanks() {
        assert_eq!(wrap("one\n\ntwo", " * "), "one\n *\n * two");
    }
}
