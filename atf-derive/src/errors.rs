//! Collects errors, each with its position in the user's code, and reports all of them at once.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::ItemStruct;

/// The errors of one expansion.
#[derive(Default)]
pub(crate) struct Errors(Option<syn::Error>);

impl Errors {
    /// Adds a message at the position of the tokens.
    pub(crate) fn at(&mut self, place: impl ToTokens, message: impl std::fmt::Display) {
        self.add(syn::Error::new_spanned(place, message));
    }

    pub(crate) fn add(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// Parses the item that the macro is applied to; if it is not a struct, reports the message.
    pub(crate) fn parse_item(&mut self, item: TokenStream, message: &str) -> Option<ItemStruct> {
        let parsed = syn::parse2(item);
        let wrong = |error: syn::Error| self.add(syn::Error::new(error.span(), message));
        parsed.map_err(wrong).ok()
    }

    /// Returns the errors, followed by the expansion.
    pub(crate) fn followed_by(self, expansion: TokenStream) -> TokenStream {
        let mut tokens = self.into_tokens();
        tokens.extend(expansion);
        tokens
    }

    /// Returns one `compile_error!` per error.
    pub(crate) fn into_tokens(self) -> TokenStream {
        self.0
            .map(syn::Error::into_compile_error)
            .unwrap_or_default()
    }
}

/// Joins names for a message, as in `a, b, c`.
pub(crate) fn names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}
