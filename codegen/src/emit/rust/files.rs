//! Emits the expansions as files: a module that a project can copy instead of using the macro.

use atf_spec::layout::{Layout, Wire};
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use super::{Options, open_enum, record};
use crate::{GENERATED, GeneratedFile};

const FOLDER: &str = "atf-derive/expanded";

/// Emits the folder `atf-derive/expanded`: one file per record and wire version, one for the
/// enumerations, and a `mod.rs`.
///
/// # Panics
///
/// Panics if a name in the layout is not a Rust identifier.
#[must_use]
pub fn files(layout: &Layout) -> Vec<GeneratedFile> {
    let mut files = vec![
        file("mod.rs", module(layout)),
        file("enums.rs", enums(layout)),
    ];
    for item in &layout.records {
        for fields in &item.layouts {
            let options = Options::new(&item.rust_name());
            let tokens = record(layout, item, fields.wire, &options);
            files.push(file(&record_file(&item.name, fields.wire), tokens));
        }
    }
    files
}

fn record_file(record: &str, wire: Wire) -> String {
    format!("{record}.v{wire}.rs")
}

fn enums(layout: &Layout) -> TokenStream {
    let enums = layout
        .enums
        .iter()
        .map(|enumeration| open_enum(layout, enumeration, &Options::new(&enumeration.rust_name())));
    quote!(#(#enums)*)
}

fn module(layout: &Layout) -> TokenStream {
    let wires = layout.wires.iter().map(|&wire| {
        let docs = format!(" The records in wire version {wire}.");
        let name = format_ident!("v{wire}");
        let records = layout
            .records
            .iter()
            .filter(|record| record.layout(wire).is_some());
        let files = records.map(|record| Literal::string(&record_file(&record.name, wire)));
        quote! {
            #[doc = #docs]
            pub mod #name { #(::core::include!(#files);)* }
        }
    });
    quote! {
        #![doc = " The records and enumerations of ATF v2, as the macros of `atf-derive` expand them."]
        #![doc = ""]
        #![doc = " To avoid the macro, copy this folder into your project; it needs `zerocopy` with the"]
        #![doc = " feature `derive`."]
        ::core::include!("enums.rs");
        #(#wires)*
    }
}

fn file(name: &str, tokens: TokenStream) -> GeneratedFile {
    let tree = syn::parse2(tokens).expect("the emitter writes Rust items");
    GeneratedFile {
        path: format!("{FOLDER}/{name}"),
        text: format!("// {GENERATED}\n\n{}", prettyplease::unparse(&tree)),
    }
}
