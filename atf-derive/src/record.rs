//! `#[record(index_header, wire = 1)] pub struct IndexHeader;`

mod arguments;
mod pins;

use atf_codegen::emit::rust::{self, Options};
use atf_spec::layout::Layout;
use proc_macro2::TokenStream;
use syn::ItemStruct;

use crate::errors::Errors;
use arguments::Arguments;

/// Returns the errors followed by the expansion, or only the errors if the record or wire version
/// is unknown.
pub(crate) fn expand(layout: &Layout, arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let arguments = Arguments::parse(arguments, &mut errors);
    let chosen = arguments.and_then(|arguments| arguments.choose(layout, &mut errors));
    let Some((record, fields)) = chosen else {
        return errors.into_tokens();
    };
    let item = match syn::parse2::<ItemStruct>(item) {
        Ok(item) => item,
        Err(error) => {
            let (name, ident) = (&record.name, record.rust_name());
            let message = format!("{name} is a struct: expected `struct {ident};`");
            errors.add(syn::Error::new(error.span(), message));
            return errors.into_tokens();
        }
    };
    if !item.generics.params.is_empty() || item.generics.where_clause.is_some() {
        errors.at(
            &item.generics,
            format!("{} has one layout: no generics", record.name),
        );
    }
    let pinned = pins::check(record, fields, &item.fields, &mut errors);
    let options = Options {
        attributes: item.attrs,
        visibility: item.vis,
        ident: item.ident,
        fields: pinned,
        c_definition: true,
    };
    let expansion = rust::record(layout, record, fields.wire, &options);
    let mut tokens = errors.into_tokens();
    tokens.extend(expansion);
    tokens
}
