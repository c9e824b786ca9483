//! `#[record(index_header, wire = 1)] pub struct IndexHeader;`

use std::collections::BTreeMap;

use atf_codegen::emit::rust::{self, Options, value_type};
use atf_spec::layout::{Field, Layout, Record, RecordLayout, Wire};
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Fields, LitInt, Token};

use crate::errors::{Errors, names};

/// Returns the errors followed by the expansion, or only the errors if the record or wire version
/// is unknown.
pub(crate) fn expand(layout: &Layout, arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let arguments = Arguments::parse(arguments, &mut errors);
    let chosen = arguments.and_then(|arguments| arguments.choose(layout, &mut errors));
    let Some((record, fields)) = chosen else {
        return errors.into_tokens();
    };
    let (name, ident) = (&record.name, record.rust_name());
    let expected = format!("{name} is a struct: expected `struct {ident};`");
    let Some(item) = errors.parse_item(item, &expected) else {
        return errors.into_tokens();
    };
    if !item.generics.params.is_empty() || item.generics.where_clause.is_some() {
        let message = format!("{name} has one layout: no generics");
        errors.at(&item.generics, message);
    }
    let pinned = check_pins(record, fields, &item.fields, &mut errors);
    let options = Options {
        attributes: item.attrs,
        visibility: item.vis,
        ident: item.ident,
        fields: pinned,
    };
    let structure = rust::record(layout, record, fields.wire, &options);
    let definition = rust::c_definition(layout, record, fields.wire, &options.ident);
    errors.followed_by(quote!(#structure #definition))
}

/// The attribute's arguments: `index_header, wire = 1, size = 64`, where the size is a pin.
struct Arguments {
    record: Ident,
    wire: Option<LitInt>,
    size: Option<LitInt>,
}

impl Arguments {
    /// Parses the arguments; returns `None` if they are malformed.
    fn parse(tokens: TokenStream, errors: &mut Errors) -> Option<Self> {
        let parser = |input: ParseStream<'_>| Self::parse_stream(input, errors);
        let parsed = parser.parse2(tokens);
        parsed.map_err(|error| errors.add(error)).ok()
    }

    fn parse_stream(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Self> {
        if input.is_empty() {
            let message = "expected a record, such as `index_header, wire = 1`";
            return Err(syn::Error::new(input.span(), message));
        }
        let mut arguments = Self {
            record: input.parse()?,
            wire: None,
            size: None,
        };
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            let key = input.parse::<Ident>()?;
            input.parse::<Token![=]>()?;
            let value = input.parse::<LitInt>()?;
            let place = match key.to_string().as_str() {
                "wire" => &mut arguments.wire,
                "size" => &mut arguments.size,
                _ => {
                    let message = format!("unknown key `{key}`: expected `wire` or `size`");
                    errors.at(&key, message);
                    continue;
                }
            };
            if place.is_some() {
                errors.at(&key, format!("duplicate key `{key}`"));
            } else {
                *place = Some(value);
            }
        }
        Ok(arguments)
    }

    /// Returns the record and its layout in the wire version, after checking the size.
    fn choose<'a>(
        &self,
        layout: &'a Layout,
        errors: &mut Errors,
    ) -> Option<(&'a Record, &'a RecordLayout)> {
        let name = self.record.to_string();
        let Some(record) = layout.record(&name) else {
            let known = names(layout.records.iter().map(|record| record.name.as_str()));
            let message = format!("the spec has no record `{name}`, only {known}");
            errors.at(&self.record, message);
            return None;
        };
        let fields = self.layout_of(record, errors)?;
        if let Some(size) = &self.size
            && size.base10_parse().ok() != Some(record.size)
        {
            let (found, wire) = (record.size, fields.wire);
            let has = format!("{name} is {found} bytes in wire version {wire}");
            errors.at(size, format!("{has}, not {size}"));
        }
        Some((record, fields))
    }

    fn layout_of<'a>(&self, record: &'a Record, errors: &mut Errors) -> Option<&'a RecordLayout> {
        let wires = record.layouts.iter();
        let wires: Vec<_> = wires.map(|own| format!("`wire = {}`", own.wire)).collect();
        let wires = wires.join(" or ");
        let Some(wire) = &self.wire else {
            errors.at(&self.record, format!("{} needs {wires}", record.name));
            return None;
        };
        let number: Option<Wire> = wire.base10_parse().ok();
        let fields = number.and_then(|wire| record.layout(wire));
        if fields.is_none() {
            let name = &record.name;
            let message = format!("{name} has no wire version {wire}: expected {wires}");
            errors.at(wire, message);
        }
        fields
    }
}

/// Compares the struct's fields with those in the spec and returns their attributes, except for the
/// offsets. These pins, which the user repeats, result in an error if the spec differs.
fn check_pins(
    record: &Record,
    layout: &RecordLayout,
    pins: &Fields,
    errors: &mut Errors,
) -> BTreeMap<String, Vec<Attribute>> {
    let pins = match pins {
        Fields::Named(fields) => &fields.named,
        Fields::Unit => return BTreeMap::new(),
        Fields::Unnamed(fields) => {
            errors.at(fields, format!("fields of {} have names", record.name));
            return BTreeMap::new();
        }
    };
    let mut kept = BTreeMap::new();
    let mut last: Option<usize> = None;
    for pin in pins {
        let Some(ident) = &pin.ident else { continue };
        let name = ident.to_string();
        let Some(index) = layout.fields.iter().position(|field| field.name == name) else {
            errors.at(ident, unknown_field(record, layout, &name));
            continue;
        };
        let pinned = Pinned {
            record,
            layout,
            field: &layout.fields[index],
        };
        match last {
            Some(last) if last == index || kept.contains_key(&name) => {
                errors.at(ident, format!("{}.{name} is pinned twice", record.name));
            }
            Some(last) if last > index => {
                let before = &layout.fields[last].name;
                errors.at(ident, format!("{}, before {before}", pinned.described()));
            }
            _ => {}
        }
        last = last.max(Some(index));
        pinned.check_type(&pin.ty, errors);
        kept.insert(name, pinned.check_offsets(&pin.attrs, errors));
    }
    kept
}

/// A pin's counterpart in the spec.
struct Pinned<'a> {
    record: &'a Record,
    layout: &'a RecordLayout,
    field: &'a Field,
}

impl Pinned<'_> {
    /// Describes the field in the spec: `index_event.detail_seq is u64 at offset 16 in wire version
    /// 2`.
    fn described(&self) -> String {
        let (record, field) = (&self.record.name, self.field);
        let ty = value_type(field.ty);
        let wire = self.layout.wire;
        format!(
            "{record}.{} is {ty} at offset {} in wire version {wire}",
            field.name, field.offset
        )
    }

    fn check_type(&self, ty: &syn::Type, errors: &mut Errors) {
        let written = quote!(#ty).to_string().replace(' ', "").replace(';', "; ");
        if written != value_type(self.field.ty) {
            errors.at(ty, format!("{}, not {written}", self.described()));
        }
    }

    fn check_offsets(&self, attributes: &[Attribute], errors: &mut Errors) -> Vec<Attribute> {
        let (offsets, others): (Vec<_>, Vec<_>) = attributes
            .iter()
            .cloned()
            .partition(|attribute| attribute.path().is_ident("offset"));
        for attribute in offsets {
            match attribute.parse_args::<LitInt>() {
                Ok(offset) if offset.base10_parse().ok() == Some(self.field.offset) => {}
                Ok(offset) => errors.at(&offset, format!("{}, not at {offset}", self.described())),
                Err(error) => errors.add(error),
            }
        }
        others
    }
}

fn unknown_field(record: &Record, layout: &RecordLayout, name: &str) -> String {
    let known = names(layout.fields.iter().map(|field| field.name.as_str()));
    format!(
        "{} has no field `{name}` in wire version {}, only {known}",
        record.name, layout.wire
    )
}
