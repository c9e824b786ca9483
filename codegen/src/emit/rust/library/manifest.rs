//! Emits the manifest's objects: their keys, and a struct per object with functions to read and
//! write it.

use std::collections::BTreeSet;

use atf_spec::layout::camel_case;
use atf_spec::model::{JsonType, ManifestField, ManifestFile, ManifestObject};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use super::super::{constant_ident, doc};

pub(super) fn tokens(manifest: &ManifestFile) -> TokenStream {
    let objects = &manifest.objects;
    let fields = objects.iter().flat_map(|object| &object.fields);
    let names: BTreeSet<&str> = fields.map(|field| field.name.as_str()).collect();
    let keys = names.iter().map(|name| constant_ident(name));
    let fields = objects.iter().flat_map(|object| &object.fields);
    let enums = fields.filter_map(|field| field.enumeration.as_ref());
    let enums: BTreeSet<Ident> = enums.map(|name| type_of(name)).collect();
    let enums = enums.iter();
    let items = objects.iter().enumerate().map(|(position, object)| {
        let object = Object {
            object,
            is_root: position == 0,
        };
        object.tokens()
    });
    quote! {
        use super::json::{Place, Reader, hex};
        use super::read;
        use crate::clock::TimingAnchor;
        use crate::error::Error;
        #(use crate::wire::#enums;)*
        use serde_core::ser::{Serialize, SerializeMap, Serializer};
        use serde_json::value::RawValue;

        /// The keys of all objects.
        pub(crate) mod key {
            #(pub(crate) const #keys: &str = #names;)*
        }
        #(#items)*
    }
}

struct Object<'a> {
    object: &'a ManifestObject,
    is_root: bool,
}

impl Object<'_> {
    fn tokens(&self) -> TokenStream {
        let definition = self.definition();
        let new = self.constructor();
        let read = self.read();
        let write = self.write();
        let ident = self.ident();
        let count = Literal::usize_unsuffixed(self.object.fields.len());
        let keys = self.object.fields.iter().map(key);
        let compared = self.is_root.then(|| self.says_the_same());
        quote! {
            #definition
            impl #ident {
                pub(super) const KEYS: [&str; #count] = [#(#keys),*];
                #new
                #read
                #compared
            }
            #write
        }
    }

    fn name(&self) -> &str {
        &self.object.object
    }

    fn ident(&self) -> Ident {
        match self.name() {
            // The library has its own type for the list's elements, and this struct is converted to
            // it.
            "timing_anchor" => format_ident!("TimingAnchorObject"),
            name => type_of(name),
        }
    }

    /// Returns whether problem reports identify the object by its position in a list.
    fn has_position(&self) -> bool {
        matches!(self.name(), "thread" | "symbol")
    }

    fn definition(&self) -> TokenStream {
        let ident = self.ident();
        let doc = doc::attributes(std::slice::from_ref(&self.object.means));
        let derives = if self.is_root {
            quote!(Debug, Clone, Default)
        } else if self.object.fields.iter().all(is_number) {
            quote!(Debug, Clone, Copy, PartialEq, Eq)
        } else {
            quote!(Debug, Clone, PartialEq, Eq)
        };
        let visibility = match self.name() {
            "timing_anchor" => quote!(pub(super)),
            _ => quote!(pub),
        };
        let position = self.has_position().then(|| {
            quote! {
                /// Its position in the manifest's list, counted from 0 and including unreadable
                /// entries.
                pub position: usize,
            }
        });
        let fields = self.object.fields.iter().map(|field| {
            let doc = doc::attributes(std::slice::from_ref(&field.means));
            let (name, ty) = (ident_of(field), rust_type(field));
            quote!(#doc pub #name: #ty)
        });
        let problems = self.is_root.then(|| {
            quote! {
                /// The first 100 problems that readers [ignore](crate::ErrorKind::is_ignored) and the
                /// first 100 others, each with the path of its value (`threads[2].id`) and its byte
                /// offset in the file.
                pub problems: Vec<Error>,
                /// The total number of problems.
                pub problem_count: u64,
                /// How many of them readers ignore.
                pub ignored_count: u64,
            }
        });
        quote! {
            #doc
            #[derive(#derives)]
            #[non_exhaustive]
            #visibility struct #ident {
                #position
                #(#fields,)*
                #problems
            }
        }
    }

    /// Emits a constructor with the required values.
    fn constructor(&self) -> TokenStream {
        let (visibility, new) = match self.name() {
            _ if self.is_root => return TokenStream::new(),
            "timing_anchor" => return TokenStream::new(),
            "thread" => (quote!(pub(crate)), quote!(new)),
            "symbol" => (quote!(pub(super)), quote!(unnamed)),
            _ => (quote!(pub), quote!(new)),
        };
        let required = self.object.fields.iter().filter(|field| field.required);
        let parameters = required.map(|field| {
            let (name, ty) = (ident_of(field), rust_type(field));
            quote!(#name: #ty)
        });
        let values = self.object.fields.iter().map(|field| {
            let name = ident_of(field);
            if field.required {
                quote!(#name)
            } else {
                quote!(#name: None)
            }
        });
        let position = self.has_position().then(|| quote!(position: 0,));
        let doc = if self.object.fields.iter().all(|field| field.required) {
            " Creates the object from its values."
        } else {
            " Creates the object with only its required values."
        };
        quote! {
            #[doc = #doc]
            #[must_use]
            #visibility const fn #new(#(#parameters),*) -> Self {
                Self { #position #(#values),* }
            }
        }
    }

    fn read(&self) -> TokenStream {
        let reads = self.object.fields.iter().map(|field| {
            let (name, key, read) = (ident_of(field), key(field), read_by(field));
            let member = if field.required {
                quote!(required)
            } else {
                quote!(member)
            };
            let enumeration = field.enumeration.as_ref().map(|name| {
                let ident = type_of(name);
                quote!(.map(#ident::from))
            });
            quote!(let #name = reader.#member(&object, #key, #read)#enumeration;)
        });
        let values = self.object.fields.iter().map(|field| {
            let name = ident_of(field);
            match (field.ty.value, field.required) {
                (JsonType::List, _) => quote!(#name: #name.unwrap_or_default()),
                (_, true) => quote!(#name: #name?),
                (_, false) => quote!(#name),
            }
        });
        let position = self
            .has_position()
            .then(|| quote!(position: place.position(),));
        let rest = self.is_root.then(|| quote!(, ..Self::default()));
        quote! {
            pub(super) fn read<'a>(
                reader: &mut Reader<'a>,
                raw: &'a RawValue,
                place: Place<'_>,
            ) -> Option<Self> {
                let object = reader.object(raw, place, &Self::KEYS)?;
                #(#reads)*
                Some(Self { #position #(#values),* #rest })
            }
        }
    }

    fn write(&self) -> TokenStream {
        let ident = self.ident();
        let entries = self.object.fields.iter().map(write_entry);
        if self.is_root {
            return quote! {
                impl #ident {
                    /// Adds the members to the text's object.
                    pub(super) fn write<M: SerializeMap>(&self, object: &mut M) -> Result<(), M::Error> {
                        #(#entries)*
                        Ok(())
                    }
                }
            };
        }
        quote! {
            impl Serialize for #ident {
                fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    let mut object = serializer.serialize_map(None)?;
                    #(#entries)*
                    object.end()
                }
            }
        }
    }

    fn says_the_same(&self) -> TokenStream {
        let names = self.object.fields.iter().map(ident_of);
        quote! {
            /// Returns whether all values are equal; the texts may differ in formatting.
            pub(crate) fn says_the_same(&self, other: &Self) -> bool {
                #(self.#names == other.#names)&&*
            }
        }
    }
}

/// Emits the code that writes a field as a member, unless its value is absent.
fn write_entry(field: &ManifestField) -> TokenStream {
    let (name, key) = (ident_of(field), key(field));
    let text = |value: TokenStream| match (field.ty.value, &field.enumeration) {
        (JsonType::Hex, _) => {
            let digits = Literal::u8_unsuffixed(field.digits.unwrap_or(1));
            quote!(&hex(#value, #digits))
        }
        (_, Some(_)) => quote!(&#value.0),
        _ => value,
    };
    if field.required {
        let text = text(quote!(&self.#name));
        return quote!(object.serialize_entry(#key, #text)?;);
    }
    let text = text(quote!(value));
    let value = match field.ty.value {
        JsonType::Name => quote!(self.#name.as_ref().filter(|name| !name.is_empty())),
        JsonType::Object if of(field) == "loss" => {
            quote!(self.#name.as_ref().filter(|loss| loss.count > 0))
        }
        JsonType::List => quote!(Some(&self.#name).filter(|list| !list.is_empty())),
        _ => quote!(&self.#name),
    };
    quote! {
        if let Some(value) = #value {
            object.serialize_entry(#key, #text)?;
        }
    }
}

fn read_by(field: &ManifestField) -> TokenStream {
    match field.ty.value {
        JsonType::List => match of(field) {
            // A thread that is listed twice must be counted once, so threads have their own
            // function.
            "thread" => quote!(read::threads),
            "timing_anchor" => list(&quote!(read::timing_anchor)),
            name => {
                let ident = type_of(name);
                list(&quote!(#ident::read))
            }
        },
        JsonType::Object => {
            let ident = type_of(of(field));
            quote!(#ident::read)
        }
        // The reader's functions have the names of the types.
        ty => {
            let name = format_ident!("{}", ty.name());
            quote!(Reader::#name)
        }
    }
}

fn list(read: &TokenStream) -> TokenStream {
    quote!(|reader, raw, place| reader.list(raw, place, #read))
}

fn rust_type(field: &ManifestField) -> TokenStream {
    let inner = match field.ty.value {
        JsonType::Boolean => format_ident!("bool"),
        JsonType::U8 => format_ident!("u8"),
        JsonType::U32 => format_ident!("u32"),
        JsonType::U64 | JsonType::Hex => format_ident!("u64"),
        JsonType::I64 => format_ident!("i64"),
        JsonType::PositiveI32 => format_ident!("i32"),
        JsonType::Text | JsonType::Name => format_ident!("String"),
        JsonType::Object | JsonType::List => type_of(of(field)),
    };
    let enumeration = field.enumeration.as_ref();
    let inner = enumeration.map_or(inner, |name| type_of(name));
    match field.ty.value {
        JsonType::List => quote!(Vec<#inner>),
        _ if field.required => quote!(#inner),
        _ => quote!(Option<#inner>),
    }
}

/// Returns the name of the object that a field contains.
fn of(field: &ManifestField) -> &str {
    field.of.as_ref().map_or("", |of| of.as_str())
}

/// Returns whether the value is a number or a boolean.
fn is_number(field: &ManifestField) -> bool {
    use JsonType::{List, Name, Object, Text};
    !matches!(field.ty.value, Text | Name | Object | List)
}

fn key(field: &ManifestField) -> TokenStream {
    let ident = constant_ident(&field.name);
    quote!(key::#ident)
}

fn ident_of(field: &ManifestField) -> Ident {
    format_ident!("{}", field.name.as_str())
}

fn type_of(name: &str) -> Ident {
    match name {
        "thread" => format_ident!("ManifestThread"),
        name => format_ident!("{}", camel_case(name)),
    }
}
