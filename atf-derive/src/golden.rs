//! Checks that the macros expand to the emitter's output.

use atf_codegen::emit::rust::{self, Options};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::{layout, open_enum, record};

fn assert_same(name: &str, expansion: &TokenStream, emitted: &TokenStream) {
    assert_eq!(expansion.to_string(), emitted.to_string(), "{name}");
}

#[test]
fn the_macro_expands_each_record_as_the_emitter_does() {
    for item in &layout().records {
        for fields in &item.layouts {
            let (name, ident, wire) = (
                format_ident!("{}", item.name),
                format_ident!("{}", item.rust_name()),
                fields.wire,
            );
            let expansion = record::expand(
                layout(),
                quote!(#name, wire = #wire),
                quote!(pub struct #ident;),
            );
            let emitted = rust::record(layout(), item, wire, &Options::new(&item.rust_name()));
            assert_same(&item.name, &expansion, &emitted);
        }
    }
}

#[test]
fn the_macro_expands_each_enumeration_as_the_emitter_does() {
    for item in &layout().enums {
        let (name, ident) = (
            format_ident!("{}", item.name),
            format_ident!("{}", item.rust_name()),
        );
        let expansion = open_enum::expand(layout(), quote!(#name), quote!(pub struct #ident;));
        let emitted = rust::open_enum(layout(), item, &Options::new(&item.rust_name()));
        assert_same(&item.name, &expansion, &emitted);
    }
}
