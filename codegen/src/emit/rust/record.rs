//! Emits a record as a packed struct of fields with alignment 1, with constants and assertions.

use atf_spec::layout::{Field, Layout, Record, RecordLayout, Scalar, Type, Value, Wire};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens, format_ident, quote};

use super::{Options, constant_ident, doc, number, value_tokens};
use crate::emit::c::record_definition;

/// Emits a record in one wire version: the struct, its constants, and assertions about its size,
/// its alignment and the offset of each field.
///
/// # Panics
///
/// Panics if the record has no layout in that wire version, or if one of its names is not a Rust
/// identifier.
#[must_use]
pub fn record(layout: &Layout, record: &Record, wire: Wire, options: &Options) -> TokenStream {
    let fields = record
        .layout(wire)
        .expect("the caller chose a wire version of the record");
    let structure = structure(layout, record, fields, options);
    let constants = constants(record, fields, &options.ident);
    let assertions = assertions(record, fields, &options.ident);
    quote!(#structure #constants #assertions)
}

fn structure(
    layout: &Layout,
    record: &Record,
    fields: &RecordLayout,
    options: &Options,
) -> TokenStream {
    let Options {
        attributes,
        visibility,
        ident,
        ..
    } = options;
    let docs = doc::after(attributes, &doc::record(record, fields.wire));
    let fields = fields.fields.iter().map(|field| {
        let attributes = options.fields.get(&field.name);
        let attributes = attributes.map_or(&[][..], Vec::as_slice);
        let docs = doc::after(attributes, &doc::field(layout, field));
        let name = format_ident!("{}", field.name);
        let ty = wire_type(field.ty);
        quote!(#(#attributes)* #docs pub #name: #ty)
    });
    quote! {
        #(#attributes)*
        #docs
        #[derive(
            ::core::clone::Clone,
            ::core::marker::Copy,
            ::core::fmt::Debug,
            ::core::cmp::PartialEq,
            ::core::cmp::Eq
        )]
        #[derive(
            ::zerocopy::FromBytes,
            ::zerocopy::IntoBytes,
            ::zerocopy::KnownLayout,
            ::zerocopy::Immutable,
            ::zerocopy::Unaligned
        )]
        #[repr(C, packed)]
        #visibility struct #ident { #(#fields),* }
    }
}

/// Emits a record's layout in C, as another constant.
///
/// # Panics
///
/// Panics if the record has no layout in that wire version.
#[must_use]
pub fn c_definition(layout: &Layout, record: &Record, wire: Wire, ident: &Ident) -> TokenStream {
    let definition = raw_string(&record_definition(layout, record, wire));
    quote! {
        impl #ident {
            /// The same layout in C: a packed struct and its assertions.
            pub const C_DEFINITION: &'static str = #definition;
        }
    }
}

fn constants(record: &Record, fields: &RecordLayout, ident: &Ident) -> TokenStream {
    let name = &record.name;
    let wire = Literal::u8_unsuffixed(fields.wire);
    let size = Literal::u32_unsuffixed(record.size);
    let of_fields = fields.fields.iter().map(field_constants);
    quote! {
        impl #ident {
            /// The record's name in the spec.
            pub const RECORD: &'static str = #name;
            /// The wire version of this layout.
            pub const WIRE: u8 = #wire;
            /// The record's size in bytes.
            pub const SIZE: usize = #size;
            #(#of_fields)*
        }
    }
}

/// Emits constants for a field's fixed value, its maximum, and the value that means "none".
fn field_constants(field: &Field) -> TokenStream {
    let constant = |suffix: &str, doc: String, value: TokenStream| {
        let docs = doc::attributes(&[doc]);
        let name = format_ident!("{}{suffix}", constant_ident(&field.name));
        let ty = value_tokens(field.ty);
        quote!(#docs pub const #name: #ty = #value;)
    };
    let name = &field.name;
    let fixed = field.value.as_ref().map(|value| {
        let value = match value {
            Value::Text(text) => {
                let bytes = Literal::byte_string(text.as_bytes());
                quote!(*#bytes)
            }
            Value::Number(number) => Literal::u64_unsuffixed(*number).into_token_stream(),
        };
        constant("", format!("The value of `{name}`."), value)
    });
    let none = field.none.map(|none| {
        let none = number(field.ty.scalar, none);
        let none = none.parse().expect("a number or a path");
        let doc = format!("The value of `{name}` that means \"none\".");
        constant("_NONE", doc, none)
    });
    let max = field.max.map(|max| {
        let max = Literal::u64_unsuffixed(max).into_token_stream();
        constant("_MAX", format!("The maximum of `{name}`."), max)
    });
    quote!(#fixed #max #none)
}

/// Emits a separate constant for each assertion, so that rustc reports every failure.
fn assertions(record: &Record, fields: &RecordLayout, ident: &Ident) -> TokenStream {
    let (name, wire) = (&record.name, fields.wire);
    let size = Literal::u32_unsuffixed(record.size);
    let size_message = format!("{name} must be {size} bytes in wire version {wire}");
    let align_message = format!("{name} must have alignment 1 in wire version {wire}");
    let offsets = fields.fields.iter().map(|field| {
        let field_ident = format_ident!("{}", field.name);
        let offset = Literal::u32_unsuffixed(field.offset);
        let message =
            format!("{name}.{field_ident} must be at offset {offset} in wire version {wire}");
        quote! {
            const _: () = ::core::assert!(
                ::core::mem::offset_of!(#ident, #field_ident) == #offset, #message
            );
        }
    });
    quote! {
        const _: () = ::core::assert!(::core::mem::size_of::<#ident>() == #size, #size_message);
        const _: () = ::core::assert!(::core::mem::align_of::<#ident>() == 1, #align_message);
        #(#offsets)*
    }
}

/// Returns the type of a field in the struct, which has alignment 1 and is little-endian on every
/// host.
fn wire_type(ty: Type) -> TokenStream {
    let scalar = match ty.scalar {
        Scalar::U8 => quote!(u8),
        Scalar::U16 => quote!(::zerocopy::little_endian::U16),
        Scalar::U32 => quote!(::zerocopy::little_endian::U32),
        Scalar::U64 => quote!(::zerocopy::little_endian::U64),
    };
    match ty.count.map(Literal::u32_unsuffixed) {
        Some(count) => quote!([#scalar; #count]),
        None => scalar,
    }
}

/// Returns a raw string literal, which keeps multi-line text readable.
fn raw_string(text: &str) -> Literal {
    let mut hashes = "#".to_owned();
    while text.contains(&format!("\"{hashes}")) {
        hashes.push('#');
    }
    let literal = format!("r{hashes}\"{text}\"{hashes}");
    literal
        .parse()
        .expect("a raw string with more hashes than its text")
}
