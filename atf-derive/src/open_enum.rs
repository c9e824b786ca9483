//! `#[open_enum(event_kind)] pub struct EventKind;`

use std::collections::BTreeMap;

use atf_codegen::emit::rust::{self, Options};
use atf_spec::layout::Layout;
use proc_macro2::{Ident, TokenStream};
use syn::{Fields, ItemStruct};

use crate::errors::{Errors, names};

/// The expansion, or the errors in its place.
pub(crate) fn expand(layout: &Layout, arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let name = syn::parse2::<Ident>(arguments).map_err(|error| errors.add(error));
    let item = syn::parse2::<ItemStruct>(item).map_err(|error| errors.add(error));
    let (Ok(name), Ok(item)) = (name, item) else {
        return errors.into_tokens();
    };
    let Some(enumeration) = layout.enumeration(&name.to_string()) else {
        let known = names(layout.enums.iter().map(|e| e.name.as_str()));
        errors.at(
            &name,
            format!("the spec has no enumeration `{name}`, only {known}"),
        );
        return errors.into_tokens();
    };
    if !matches!(item.fields, Fields::Unit) || !item.generics.params.is_empty() {
        errors.at(&item.ident, format!("expected `struct {};`", item.ident));
        return errors.into_tokens();
    }
    let options = Options {
        attributes: item.attrs,
        visibility: item.vis,
        ident: item.ident,
        fields: BTreeMap::new(),
    };
    rust::open_enum(layout, enumeration, &options)
}
