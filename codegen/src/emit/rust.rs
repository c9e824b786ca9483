//! Emits Rust structs: zerocopy views of the records, and newtypes of the open enumerations.
//!
//! The macros of `atf-derive` expand to [`record`] and [`open_enum`]; [`library`] returns the
//! records of crate `atf` as files. The expansions use only absolute paths, so they compile in any
//! crate that depends on `zerocopy`.
//!
//! Fields appear in the layout's order, and compile-time assertions check sizes and offsets. If a
//! size or offset differs from the layout, rustc reports the record and the field.

mod doc;
#[cfg(feature = "command")]
mod library;
mod open_enum;
mod record;

#[cfg(feature = "command")]
pub(super) use doc::marked;
#[cfg(feature = "command")]
pub use library::library;
pub use open_enum::open_enum;
pub use record::{c_definition, record};

use std::collections::BTreeMap;

use atf_spec::layout::{Scalar, Type};
use proc_macro2::{Ident, Span, TokenStream};
use quote::format_ident;
use syn::{Attribute, Token, Visibility};

#[cfg(feature = "command")]
use crate::{GENERATED, GeneratedFile};

/// Options of an expansion, chosen by the user. Everything else comes from the layout.
pub struct Options {
    /// Attributes and documentation that precede the generated ones.
    pub attributes: Vec<Attribute>,
    /// The item's visibility.
    pub visibility: Visibility,
    /// The item's name.
    pub ident: Ident,
    /// Attributes that precede the generated ones on a record's fields, keyed by field name.
    pub fields: BTreeMap<String, Vec<Attribute>>,
}

impl Options {
    /// Returns a public item without additional attributes.
    #[must_use]
    pub fn new(ident: &str) -> Self {
        Self {
            attributes: Vec::new(),
            visibility: Visibility::Public(<Token![pub]>::default()),
            ident: Ident::new(ident, Span::call_site()),
            fields: BTreeMap::new(),
        }
    }
}

/// Returns the Rust type of a field's value, such as `u32` or `[u8; 4]`.
#[must_use]
pub fn value_type(ty: Type) -> String {
    match ty.count {
        Some(count) => format!("[{}; {count}]", ty.scalar.name()),
        None => ty.scalar.name().to_owned(),
    }
}

fn value_tokens(ty: Type) -> TokenStream {
    value_type(ty).parse().expect("a type of Rust")
}

/// Formats tokens as a generated file, with its title.
#[cfg(feature = "command")]
pub(super) fn file(path: &str, title: &str, tokens: TokenStream) -> GeneratedFile {
    let tree = syn::parse2(tokens).expect("the emitter writes Rust items");
    let code = prettyplease::unparse(&tree);
    GeneratedFile::new(path, format!("// {GENERATED}\n\n//! {title}\n\n{code}"))
}

/// Formats a number. The scalar's maximum is written by name: `u64::MAX`.
fn number(scalar: Scalar, number: u64) -> String {
    if number == scalar.max() {
        format!("{}::MAX", scalar.name())
    } else {
        number.to_string()
    }
}

fn scalar_ident(scalar: Scalar) -> Ident {
    format_ident!("{}", scalar.name())
}

/// Returns the name of a field's constant: `EVENT_SIZE` for `event_size`.
fn constant_ident(name: &str) -> Ident {
    format_ident!("{}", name.to_ascii_uppercase())
}
