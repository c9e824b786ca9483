//! `#[record(index_header, wire = 1)] pub struct IndexHeader;`

mod arguments;
mod pins;

use atf_codegen::emit::rust::{self, Options};
use atf_spec::layout::Layout;
use proc_macro2::TokenStream;

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
    let (name, ident) = (&record.name, record.rust_name());
    let expected = format!("{name} is a struct: expected `struct {ident};`");
    let Some(item) = errors.parse_item(item, &expected) else {
        return errors.into_tokens();
    };
    if !item.generics.params.is_empty() || item.generics.where_clause.is_some() {
        let message = format!("{name} has one layout: no generics");
        errors.at(&item.generics, message);
    }
    let pinned = pins::check(record, fields, &item.fields, &mut errors);
    let options = Options {
        attributes: item.attrs,
        visibility: item.vis,
        ident: item.ident,
        fields: pinned,
        c_definition: true,
    };
    errors.followed_by(rust::record(layout, record, fields.wire, &options))
}
