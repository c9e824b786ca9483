//! Emits the wire versions as an enum, and tables with the fields of all records.

use atf_spec::layout::{Field, Layout};
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use super::super::doc;

pub(super) fn tokens(layout: &Layout) -> TokenStream {
    let wire = wire(layout);
    let records = records(layout);
    quote! {
        use crate::wire::Field;
        #wire
        #records
    }
}

fn wire(layout: &Layout) -> TokenStream {
    let count = Literal::usize_unsuffixed(layout.wires.len());
    let wires = || layout.wires.iter();
    let versions: Vec<_> = wires().map(|&wire| Literal::u8_unsuffixed(wire)).collect();
    let variants: Vec<_> = wires().map(|wire| format_ident!("V{wire}")).collect();
    let bindings: Vec<_> = wires().map(|wire| format_ident!("v{wire}")).collect();
    let documented = wires().zip(&variants).map(|(wire, variant)| {
        let sources = layout.sources.iter();
        let sources = sources.filter(|source| source.wire == *wire);
        let ids: Vec<&str> = sources.map(|source| source.id.as_str()).collect();
        let doc = doc::attributes(&[format!("Version {wire}: {}.", ids.join(", "))]);
        quote!(#doc #variant)
    });
    quote! {
        /// A wire version: one of the incompatible layouts.
        ///
        /// The header's `version` byte distinguishes them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Wire { #(#documented),* }

        impl Wire {
            /// All wire versions in ascending order.
            pub const ALL: &[Self] = &[#(Self::#variants),*];

            /// The header's `version` byte in each wire version.
            pub const VERSIONS: &[u8] = &[#(#versions),*];

            /// The number of wire versions.
            pub(crate) const COUNT: usize = #count;

            /// Returns the wire version whose headers have this `version` byte.
            #[must_use]
            pub const fn from_version(version: u8) -> Option<Self> {
                match version {
                    #(#versions => Some(Self::#variants),)*
                    _ => None,
                }
            }

            /// Returns the header's `version` byte.
            #[must_use]
            pub const fn version(self) -> u8 {
                match self { #(Self::#variants => #versions),* }
            }

            /// Returns this version's element of an array with one element per version.
            pub(crate) const fn pick<T: Copy>(self, of: [T; Self::COUNT]) -> T {
                let [#(#bindings),*] = of;
                match self { #(Self::#variants => #bindings),* }
            }
        }

        /// Evaluates an expression in which the wire version is a constant, so that loops in it do
        /// not test the version. `Wire` must be in scope.
        macro_rules! with_wire {
            ($wire:expr, $constant:ident => $body:expr) => {
                match $wire {
                    #(Wire::#variants => {
                        const $constant: Wire = Wire::#variants;
                        $body
                    })*
                }
            };
        }
        pub(crate) use with_wire;
    }
}

fn records(layout: &Layout) -> TokenStream {
    let records = || layout.records.iter();
    let names = records().map(|record| format_ident!("{}", record.rust_name()));
    let names: Vec<_> = names.collect();
    let documented = records().zip(&names).map(|(record, name)| {
        let doc = doc::attributes(&[format!("`{}` of `{}`.", record.name, record.file)]);
        quote!(#doc #name)
    });
    let texts = records().map(|record| &record.name);
    let sizes = records().map(|record| Literal::u32_unsuffixed(record.size));
    let lists = records().zip(&names).flat_map(|(record, name)| {
        record.layouts.iter().map(move |layout| {
            let wire = format_ident!("V{}", layout.wire);
            let fields = layout.fields.iter().map(field);
            quote!((Self::#name, Wire::#wire) => &[#(#fields),*])
        })
    });
    quote! {
        /// A record of the format.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Record { #(#documented),* }

        impl Record {
            /// All records.
            pub const ALL: &[Self] = &[#(Self::#names),*];

            /// Returns the record's name in the spec.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { #(Self::#names => #texts),* }
            }

            /// Returns the size in bytes, the same in every wire version.
            #[must_use]
            pub const fn size(self) -> usize {
                match self { #(Self::#names => #sizes),* }
            }

            /// Returns the fields in a wire version, in order and without gaps.
            #[must_use]
            pub const fn fields(self, wire: Wire) -> &'static [Field] {
                match (self, wire) { #(#lists),* }
            }
        }
    }
}

fn field(field: &Field) -> TokenStream {
    let (name, reserved) = (field.key(), field.reserved);
    let offset = Literal::u32_unsuffixed(field.offset);
    let size = Literal::u32_unsuffixed(field.ty.size());
    quote!(Field { name: #name, offset: #offset, size: #size, is_reserved: #reserved })
}
