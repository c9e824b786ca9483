//! Emits the library's own records in `atf/src/wire/generated`: the packed structs of each wire
//! version, the enumerations, a table of all fields, and a decoded type for each record, with
//! conversions. Also emits the manifest's objects.

mod decoded;
mod manifest;
mod table;

use atf_spec::layout::{Enum, Layout};
use atf_spec::model::ManifestFile;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::{Options, constant_ident, file, open_enum, record};
use crate::GeneratedFile;

const FOLDER: &str = "atf/src/wire/generated";

/// Emits the folder `atf/src/wire/generated` and `atf/src/manifest/generated.rs`. A project that
/// does not use `atf` can copy the structs of a wire version and the enumerations. They need only
/// `zerocopy` with the feature `derive`.
///
/// # Panics
///
/// Panics if a name in the layout is not a Rust identifier.
#[must_use]
pub fn library(layout: &Layout, manifest: &ManifestFile) -> Vec<GeneratedFile> {
    let wires = layout.wires.iter().map(|&wire| {
        let records = layout.records.iter().map(|item| {
            let options = Options::new(&item.rust_name());
            record(layout, item, wire, &options)
        });
        let title = format!("The records in wire version {wire}, packed as in the files.");
        let path = format!("{FOLDER}/v{wire}.rs");
        file(&path, &title, quote!(#(#records)*))
    });
    let enums = layout.enums.iter().map(|enumeration| {
        let options = Options::new(&enumeration.rust_name());
        let effects = call_effects(enumeration, &options.ident);
        let newtype = open_enum(layout, enumeration, &options);
        quote!(#newtype #effects)
    });
    let others = [
        ("enums", "The enumerations and flags.", quote!(#(#enums)*)),
        (
            "table",
            "The wire versions, and each record's fields in every version.",
            table::tokens(layout),
        ),
        (
            "decoded",
            "Each record as one type for all wire versions.",
            decoded::tokens(layout),
        ),
        (
            "mod",
            "The generated records, enumerations and tables.",
            module(layout),
        ),
    ];
    let others = others
        .into_iter()
        .map(|(name, title, tokens)| file(&format!("{FOLDER}/{name}.rs"), title, tokens));
    let manifest = file(
        "atf/src/manifest/generated.rs",
        "The manifest's objects: their keys, and how they are read and written.",
        manifest::tokens(manifest),
    );
    wires.chain(others).chain([manifest]).collect()
}

/// Emits the effects of a kind of event on the open calls of its thread.
fn call_effects(enumeration: &Enum, ident: &Ident) -> TokenStream {
    let with_effect = enumeration.members.iter();
    let arms: Vec<TokenStream> = with_effect
        .filter_map(|member| {
            let (effect, name) = (member.effect?, constant_ident(&member.name));
            let effect = format_ident!("{effect:?}");
            Some(quote!(Self::#name => super::super::CallEffect::#effect,))
        })
        .collect();
    if arms.is_empty() {
        return TokenStream::new();
    }
    quote! {
        impl #ident {
            /// Returns the effect on the thread's open calls. Unknown kinds have none.
            #[must_use]
            pub const fn effect(self) -> super::super::CallEffect {
                match self {
                    #(#arms)*
                    _ => super::super::CallEffect::None,
                }
            }
        }
    }
}

fn module(layout: &Layout) -> TokenStream {
    let wires = layout.wires.iter().map(|wire| format_ident!("v{wire}"));
    quote! {
        pub(crate) mod decoded;
        mod enums;
        mod table;
        #(
            #[allow(dead_code, unreachable_pub, reason = "the whole layout, also for copies")]
            pub(crate) mod #wires;
        )*

        pub use enums::*;
        pub use table::{Record, Wire};
        pub(crate) use table::with_wire;
    }
}
