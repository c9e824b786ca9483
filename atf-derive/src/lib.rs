//! Wire structs of ATF v2 as macros.

mod errors;
mod open_enum;
mod record;

use std::sync::OnceLock;

use atf_spec::layout::Layout;
use proc_macro::TokenStream;

/// A record.
#[proc_macro_attribute]
pub fn record(arguments: TokenStream, item: TokenStream) -> TokenStream {
    record::expand(layout(), arguments.into(), item.into()).into()
}

/// An open enumeration.
#[proc_macro_attribute]
pub fn open_enum(arguments: TokenStream, item: TokenStream) -> TokenStream {
    open_enum::expand(layout(), arguments.into(), item.into()).into()
}

/// The resolved layout that is committed beside this crate.
fn layout() -> &'static Layout {
    static LAYOUT: OnceLock<Layout> = OnceLock::new();
    LAYOUT.get_or_init(|| {
        serde_json::from_str(include_str!("../layout.json"))
            .expect("the committed layout.json is a resolved layout")
    })
}
