//! Documentation comments for records, fields and members.

use atf_spec::layout::{Enum, Field, Layout, Member, Record, Wire};
use proc_macro2::TokenStream;
use quote::quote;
use syn::Attribute;

use super::number;

/// Returns documentation attributes, one per line of the paragraphs.
pub(super) fn attributes(paragraphs: &[String]) -> TokenStream {
    let paragraphs: Vec<&str> = paragraphs.iter().map(|it| it.trim_end()).collect();
    let text = paragraphs.join("\n\n");
    let lines = text.lines().map(marked).map(|line| match line.as_str() {
        "" => line,
        _ => format!(" {line}"),
    });
    quote!(#(#[doc = #lines])*)
}

/// Like [`attributes`], but begins with an empty line if attributes precede it.
pub(super) fn after(attributes: &[Attribute], paragraphs: &[String]) -> TokenStream {
    let separator = (!attributes.is_empty()).then(|| quote!(#[doc = ""]));
    let docs = self::attributes(paragraphs);
    quote!(#separator #docs)
}

/// Marks names from the format as code.
pub(in crate::emit) fn marked(text: &str) -> String {
    let mark = |word: &str| {
        let name = word.trim_matches(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let is_camel_case = name.starts_with(char::is_uppercase)
            && name
                .as_bytes()
                .windows(2)
                .any(|pair| matches!(pair, [b'a'..=b'z', b'A'..=b'Z']));
        if (name.contains('_') || is_camel_case) && !word.contains('`') {
            word.replace(name, &format!("`{name}`"))
        } else {
            word.to_owned()
        }
    };
    text.split(' ').map(mark).collect::<Vec<_>>().join(" ")
}

/// Describes a record: its meaning, file and size.
pub(super) fn record(record: &Record, wire: Wire) -> Vec<String> {
    let mut place = format!(
        "`{}` of `{}` in wire version {wire}: {} bytes, alignment 1, little-endian.",
        record.name, record.file, record.size
    );
    if let Some(what) = &record.followed_by {
        place.push_str(&format!("\nFollowed by: {what}"));
    }
    vec![record.doc.clone(), place]
}

/// Describes a field: its meaning and a list of facts about it.
pub(super) fn field(layout: &Layout, field: &Field) -> Vec<String> {
    let mut facts = vec![place(field)];
    facts.extend(field.units.iter().map(|unit| format!("Unit: {unit}.")));
    facts.extend(field.value.iter().map(|value| format!("Always `{value}`.")));
    facts.extend(field.max.iter().map(|max| format!("At most {max}.")));
    let none = field.none.map(|none| number(field.ty.scalar, none));
    facts.extend(none.map(|none| format!("`{none}` means \"none\".")));
    let enumeration = field.enumeration.as_deref();
    let enumeration = enumeration.and_then(|name| layout.enumeration(name));
    facts.extend(enumeration.map(values));
    facts.extend(field.constraints.iter().cloned());
    facts.push(sources(&field.sources));
    vec![field.doc.clone(), list(&facts)]
}

pub(super) fn enumeration(enumeration: &Enum) -> Vec<String> {
    let kind = if enumeration.flags {
        "Flags"
    } else {
        "Open enumeration"
    };
    vec![
        enumeration.doc.clone(),
        format!("{kind} `{}`: unknown values are kept.", enumeration.name),
    ]
}

pub(super) fn member(member: &Member) -> Vec<String> {
    vec![member.doc.clone(), sources(&member.sources)]
}

fn place(field: &Field) -> String {
    let size = field.ty.size();
    let bytes = if size == 1 { "byte" } else { "bytes" };
    let order = if field.ty.scalar.size() == 1 {
        ""
    } else {
        ", little-endian"
    };
    format!("Offset {}, {size} {bytes}{order}.", field.offset)
}

fn values(enumeration: &Enum) -> String {
    let kind = if enumeration.flags { "Flags" } else { "One of" };
    let members = enumeration.members.iter();
    let members: Vec<_> = members
        .map(|m| format!("{} `{}`", m.value, m.name))
        .collect();
    format!("{kind} `{}`: {}.", enumeration.name, members.join(", "))
}

fn sources(ids: &[String]) -> String {
    match ids {
        [] => "Source: none; decided by the spec.".to_owned(),
        [id] => format!("Source: {id}."),
        ids => format!("Sources: {}.", ids.join(", ")),
    }
}

fn list(facts: &[String]) -> String {
    let lines = facts.iter().map(|fact| format!("- {fact}"));
    lines.collect::<Vec<_>>().join("\n")
}
