//! The page on enumerations, flags and constants.

use atf_spec::layout::{Constant, Enum, Member, Wire};
use serde_json::{Value, json};

use super::Book;
use super::links::{self, Link};
use super::reconciliation;

pub(super) fn page(book: &Book<'_>) -> Value {
    let (enums, constants) = (book.layout.enums.iter(), book.layout.constants.iter());
    json!({
        "enums": enums.map(|it| enumeration(book, it)).collect::<Vec<_>>(),
        "constants": constants.map(|it| constant(book, it)).collect::<Vec<_>>(),
        "wires": book.layout.wires,
    })
}

fn enumeration(book: &Book<'_>, known: &Enum) -> Value {
    let member = |member: &Member| {
        let (value, bit) = (member.value, member.value.trailing_zeros());
        let value = if known.flags {
            format!("bit {bit} (0x{value:X})")
        } else {
            value.to_string()
        };
        json!({
            "name": member.name,
            "value": value,
            "c_name": known.c_name(member),
            "doc": member.doc,
            "sources": member.sources,
        })
    };
    let decisions = book.decisions.iter();
    let decisions = decisions.filter(|it| reconciliation::settles(it, |name| name == known.name));
    json!({
        "name": known.name,
        "c_prefix": known.c_prefix,
        "doc": known.doc,
        "flags": known.flags,
        "fields": fields_of(book, known),
        "members": known.members.iter().map(member).collect::<Vec<_>>(),
        "decisions": decisions.map(reconciliation::link).collect::<Vec<_>>(),
    })
}

fn fields_of(book: &Book<'_>, known: &Enum) -> Vec<Link> {
    let fields = book.spec.records.iter().flat_map(|record| {
        let uses_it = |name: &str| name == known.name;
        let fields = record.fields.iter();
        let fields = fields.filter(move |it| it.enumeration.as_ref().is_some_and(|it| uses_it(it)));
        fields.map(|field| {
            let name = format!("{}.{}", record.record, field.name);
            links::subject(book.spec, &name)
        })
    });
    fields.collect()
}

fn constant(book: &Book<'_>, known: &Constant) -> Value {
    let mut constants = book.spec.constants.constants.iter();
    let is = constants.find(|it| it.constant.value == known.name);
    let field = is.and_then(|it| it.is.rsplit_once('.'));
    let value = |wire: &Wire| {
        let value = known.values.iter().find(|value| value.wire == *wire)?;
        Some(format!("0x{:X} ({})", value.value, value.scalar.name()))
    };
    json!({
        "name": known.name,
        "doc": known.doc,
        "field": links::subject(book.spec, field.map_or("", |(field, _)| field)),
        // In the order of the wire versions.
        "values": book.layout.wires.iter().map(value).collect::<Vec<_>>(),
        "sources": known.sources,
    })
}
