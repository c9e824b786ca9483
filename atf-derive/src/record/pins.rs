//! Pins: fields that the user repeats in order to get an error if the spec differs.

use std::collections::BTreeMap;

use atf_codegen::emit::rust::value_type;
use atf_spec::layout::{Field, Record, RecordLayout};
use quote::quote;
use syn::{Attribute, Fields, LitInt};

use crate::errors::{Errors, names};

/// Compares the struct's fields with those in the spec and returns their attributes, except for the
/// offsets.
pub(super) fn check(
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
