//! Emits an open enumeration or a set of flags as a newtype that keeps unknown values.

use atf_spec::layout::{Enum, Layout, Member, Scalar};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::{Options, constant_ident, doc, scalar_ident};

/// Emits a newtype over the widest scalar of the fields that use the enumeration, with a constant
/// per member, a list of the members, their names, and all lossless conversions.
///
/// # Panics
///
/// Panics if a name in the layout is not a Rust identifier.
#[must_use]
pub fn open_enum(layout: &Layout, enumeration: &Enum, options: &Options) -> TokenStream {
    let Options {
        attributes,
        visibility,
        ident,
        ..
    } = options;
    let docs = doc::after(attributes, &doc::enumeration(enumeration));
    let scalar = layout.scalar_of(&enumeration.name);
    let ty = scalar_ident(scalar);
    let members = members(enumeration);
    let methods = methods(enumeration);
    let debug = debug(enumeration, ident);
    let conversions = conversions(scalar, ident);
    quote! {
        #(#attributes)*
        #docs
        #[derive(
            ::core::clone::Clone,
            ::core::marker::Copy,
            ::core::cmp::PartialEq,
            ::core::cmp::Eq,
            ::core::cmp::PartialOrd,
            ::core::cmp::Ord,
            ::core::hash::Hash
        )]
        #[repr(transparent)]
        #visibility struct #ident(
            /// The value on the wire.
            pub #ty
        );
        impl #ident { #members #methods }
        #debug
        #conversions
    }
}

fn members(enumeration: &Enum) -> TokenStream {
    let name = |member: &Member| constant_ident(&member.name);
    let members = enumeration.members.iter().map(|member| {
        let docs = doc::attributes(&doc::member(member));
        let (name, value) = (name(member), Literal::u64_unsuffixed(member.value));
        quote!(#docs pub const #name: Self = Self(#value);)
    });
    let names = enumeration.members.iter().map(name);
    quote! {
        #(#members)*
        /// All members, ascending.
        pub const MEMBERS: &'static [Self] = &[#(Self::#names),*];
    }
}

fn methods(enumeration: &Enum) -> TokenStream {
    let arms = enumeration.members.iter().map(|member| {
        let (name, value) = (&member.name, Literal::u64_unsuffixed(member.value));
        quote!(#value => ::core::option::Option::Some(#name))
    });
    let contains = enumeration.flags.then(|| {
        quote! {
            /// Returns whether all bits of `other` are set.
            #[must_use]
            pub const fn contains(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }
        }
    });
    quote! {
        /// Returns the member's name in the spec, or `None` for an unknown value.
        #[must_use]
        pub const fn name(self) -> ::core::option::Option<&'static str> {
            match self.0 {
                #(#arms,)*
                _ => ::core::option::Option::None,
            }
        }
        #contains
    }
}

fn debug(enumeration: &Enum, ident: &Ident) -> TokenStream {
    let number = if enumeration.flags { "{:#x}" } else { "{}" };
    let (named, unnamed) = (format!("{ident}({{name}})"), format!("{ident}({number})"));
    quote! {
        impl ::core::fmt::Debug for #ident {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                match self.name() {
                    ::core::option::Option::Some(name) => ::core::write!(f, #named),
                    ::core::option::Option::None => ::core::write!(f, #unnamed, self.0),
                }
            }
        }
    }
}

/// Emits conversions from each scalar that fits into the newtype, and into each scalar that can
/// hold the newtype.
fn conversions(scalar: Scalar, ident: &Ident) -> TokenStream {
    let convert = |other: Scalar, value: TokenStream| {
        if other == scalar {
            value
        } else {
            quote!(::core::convert::From::from(#value))
        }
    };
    let all = || Scalar::ALL.iter().copied();
    let from = all().filter(|other| *other <= scalar).map(|other| {
        let (ty, value) = (scalar_ident(other), convert(other, quote!(value)));
        quote! {
            impl ::core::convert::From<#ty> for #ident {
                fn from(value: #ty) -> Self {
                    Self(#value)
                }
            }
        }
    });
    let into = all().filter(|other| *other >= scalar).map(|other| {
        let (ty, value) = (scalar_ident(other), convert(other, quote!(value.0)));
        quote! {
            impl ::core::convert::From<#ident> for #ty {
                fn from(value: #ident) -> Self {
                    #value
                }
            }
        }
    });
    quote!(#(#from)* #(#into)*)
}
