//! The page on enumerations, flags and constants.

use atf_spec::layout::{Constant, Enum, Member, Wire};
use serde::Serialize;

use super::Book;
use super::links::{self, Link};

#[derive(Serialize)]
pub(super) struct Page<'a> {
    enums: Vec<Enumeration<'a>>,
    constants: Vec<Named<'a>>,
    wires: &'a [Wire],
}

#[derive(Serialize)]
struct Enumeration<'a> {
    name: &'a str,
    c_prefix: &'a str,
    doc: &'a str,
    flags: bool,
    /// The fields that use the enumeration.
    fields: Vec<Link>,
    members: Vec<Entry<'a>>,
    /// The decisions on the members.
    decisions: Vec<Link>,
}

#[derive(Serialize)]
struct Entry<'a> {
    name: &'a str,
    /// The value or, for flags, the bit number and the mask.
    value: String,
    c_name: String,
    doc: &'a str,
    sources: &'a [String],
}

#[derive(Serialize)]
struct Named<'a> {
    name: &'a str,
    doc: &'a str,
    /// The field that the constant refers to.
    field: Link,
    /// The value in each wire version, in the order of the wire versions.
    values: Vec<Option<String>>,
    sources: &'a [String],
}

pub(super) fn page<'a>(book: &Book<'a>) -> Page<'a> {
    Page {
        enums: book
            .layout
            .enums
            .iter()
            .map(|known| enumeration(book, known))
            .collect(),
        constants: book
            .layout
            .constants
            .iter()
            .map(|known| constant(book, known))
            .collect(),
        wires: &book.layout.wires,
    }
}

fn enumeration<'a>(book: &Book<'a>, known: &'a Enum) -> Enumeration<'a> {
    let entry = |member: &'a Member| Entry {
        name: &member.name,
        value: if known.flags {
            format!(
                "bit {} (0x{:X})",
                member.value.trailing_zeros(),
                member.value
            )
        } else {
            member.value.to_string()
        },
        c_name: known.c_name(member),
        doc: &member.doc,
        sources: &member.sources,
    };
    let decisions = book
        .decisions
        .iter()
        .filter(|group| super::settled::settles(group, |name| name == known.name));
    Enumeration {
        name: &known.name,
        c_prefix: &known.c_prefix,
        doc: &known.doc,
        flags: known.flags,
        fields: fields_of(book, known),
        members: known.members.iter().map(entry).collect(),
        decisions: decisions.map(super::settled::link).collect(),
    }
}

fn fields_of(book: &Book<'_>, known: &Enum) -> Vec<Link> {
    let fields = book.spec.records.iter().flat_map(|record| {
        let has_it = record.fields.iter().filter(|field| {
            field
                .enumeration
                .as_ref()
                .is_some_and(|name| name.value == known.name)
        });
        has_it.map(|field| {
            let name = format!("{}.{}", record.record, field.name);
            links::subject(book.spec, &name)
        })
    });
    fields.collect()
}

fn constant<'a>(book: &Book<'a>, known: &'a Constant) -> Named<'a> {
    let mut named = book.spec.constants.constants.iter();
    let is = named
        .find(|named| named.constant.value == known.name)
        .map(|named| named.is.as_str());
    let field = is
        .and_then(|is| is.rsplit_once('.'))
        .map_or("", |(field, _)| field);
    let value = |wire: &Wire| {
        let value = known.values.iter().find(|value| value.wire == *wire)?;
        Some(format!("0x{:X} ({})", value.value, value.scalar.name()))
    };
    Named {
        name: &known.name,
        doc: &known.doc,
        field: links::subject(book.spec, field),
        values: book.layout.wires.iter().map(value).collect(),
        sources: &known.sources,
    }
}
