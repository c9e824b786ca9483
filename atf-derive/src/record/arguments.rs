//! The attribute's arguments: the record's name, its wire version and, if pinned, its size.

use atf_spec::layout::{Layout, Record, RecordLayout, Wire};
use proc_macro2::{Ident, TokenStream};
use syn::parse::{ParseStream, Parser};
use syn::{LitInt, Token};

use crate::errors::{Errors, names};

/// `index_header, wire = 1, size = 64`
pub(super) struct Arguments {
    record: Ident,
    wire: Option<LitInt>,
    size: Option<LitInt>,
}

impl Arguments {
    /// Parses the arguments; returns `None` if they are malformed.
    pub(super) fn parse(tokens: TokenStream, errors: &mut Errors) -> Option<Self> {
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
    pub(super) fn choose<'a>(
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
