//! `#[open_enum(event_kind)] pub struct EventKind;`

use std::collections::BTreeMap;

use atf_codegen::emit::rust::{self, Options};
use atf_spec::layout::Layout;
use proc_macro2::{Ident, TokenStream};
use syn::Fields;

use crate::errors::{Errors, names};

/// Returns the expansion or, if there are any, the errors.
pub(crate) fn expand(layout: &Layout, arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let name = match syn::parse2::<Ident>(arguments) {
        Ok(name) => name,
        Err(error) => {
            let message = "expected the name of an enumeration, such as `event_kind`";
            errors.add(syn::Error::new(error.span(), message));
            return errors.into_tokens();
        }
    };
    let Some(enumeration) = layout.enumeration(&name.to_string()) else {
        let known = names(layout.enums.iter().map(|e| e.name.as_str()));
        let message = format!("the spec has no enumeration `{name}`, only {known}");
        errors.at(&name, message);
        return errors.into_tokens();
    };
    let ident = enumeration.rust_name();
    let expected = format!("{name} is open: expected `struct {ident};`");
    let Some(item) = errors.parse_item(item, &expected) else {
        return errors.into_tokens();
    };
    if !matches!(item.fields, Fields::Unit) || !item.generics.params.is_empty() {
        errors.at(&item.ident, expected);
    }
    let options = Options {
        attributes: item.attrs,
        visibility: item.vis,
        ident: item.ident,
        fields: BTreeMap::new(),
    };
    errors.followed_by(rust::open_enum(layout, enumeration, &options))
}
