//! Rust structs: zerocopy views of the records, and newtypes of the open enumerations.
//!
//! [`record`] and [`open_enum`] are what the macros of `atf-derive` expand to; [`files`] is the
//! same as text, for golden tests and for projects that want no macro. Every path in the
//! expansions is absolute, so they compile wherever `zerocopy` is a dependency.
//!
//! Fields come in the layout's order and the compile-time assertions state the layout's sizes and
//! offsets. Where the two do not fit, rustc fails and names record and field.

mod doc;
mod files;
mod open_enum;
mod record;

pub use files::files;
pub use open_enum::open_enum;
pub use record::record;

use std::collections::BTreeMap;

use atf_spec::layout::{Scalar, Type};
use proc_macro2::{Ident, Span};
use quote::format_ident;
use syn::{Attribute, Token, Visibility};

/// What the user of an expansion chooses; all else comes from the layout.
pub struct Options {
    /// Attributes and documentation that stand before the generated ones.
    pub attributes: Vec<Attribute>,
    /// Who sees the item.
    pub visibility: Visibility,
    /// The item's name.
    pub ident: Ident,
    /// Attributes that stand before the generated ones of a record's fields, by the field's name.
    pub fields: BTreeMap<String, Vec<Attribute>>,
}

impl Options {
    /// A public item without attributes of its own.
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

/// The type of a field's value in Rust: `u32`, `[u8; 4]`.
#[must_use]
pub fn value_type(ty: Type) -> String {
    match ty.count {
        Some(count) => format!("[{}; {count}]", ty.scalar.name()),
        None => ty.scalar.name().to_owned(),
    }
}

/// A number, or the name of the scalar's greatest one: `u64::MAX`.
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

/// The name of a constant: `EVENT_SIZE` for the field `event_size`.
fn constant_ident(name: &str) -> Ident {
    format_ident!("{}", name.to_ascii_uppercase())
}
