//! Emits a record as one type for all wire versions, and the conversions between the type and
//! bytes.
//!
//! The type has the fields of all wire versions, except for fixed values and padding. Each field is
//! as wide as in the widest version. A field is an `Option` if a version has a value for "none" or
//! does not have the field. If the field is only in the file's header, the header's value is used.

mod limits;

use atf_spec::layout::{Enum, Field, Layout, Record, RecordLayout, Scalar, Type, Wire};
use atf_spec::rust_names::DECODED;
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use super::super::{constant_ident, doc, scalar_ident, value_tokens};

pub(super) fn tokens(layout: &Layout) -> TokenStream {
    let modules = layout.wires.iter().map(|wire| format_ident!("v{wire}"));
    let decoded = layout.records.iter();
    let decoded: Vec<Decoded<'_>> = decoded
        .filter(|record| DECODED.contains(&record.name.as_str()))
        .map(|record| Decoded::new(layout, record))
        .collect();
    let is_used = |item: &&Enum| {
        let mut fields = decoded.iter().flat_map(|record| &record.fields);
        fields.any(|member| member.field.enumeration.as_ref() == Some(&item.name))
    };
    let enums = layout.enums.iter().filter(is_used);
    let enums = enums.map(|item| format_ident!("{}", item.rust_name()));
    let records = decoded.iter().map(Decoded::tokens);
    quote! {
        use super::{#(#enums,)* Wire, #(#modules),*};
        use super::super::OutOfRange;
        use zerocopy::little_endian::{U16, U32, U64};
        #(#records)*
    }
}

/// A record and the fields of its decoded type.
struct Decoded<'a> {
    layout: &'a Layout,
    record: &'a Record,
    /// The fields, each as in the first layout that has it.
    fields: Vec<Member<'a>>,
}

/// A field of a decoded type.
struct Member<'a> {
    /// The field in its first layout, for the documentation.
    field: &'a Field,
    /// The field's type, the widest in any version.
    ty: Type,
    /// The source of the value in versions without the field.
    absent: Absent,
    /// Whether any version has a value that means "none".
    has_none: bool,
}

/// The value of a field in a version without it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Absent {
    /// Every version has the field.
    Never,
    /// The caller passes the value, which comes from the header.
    OfHeader,
    /// The value is unknown.
    Unknown,
}

impl Member<'_> {
    fn ident(&self) -> Ident {
        format_ident!("{}", self.field.key())
    }

    fn is_option(&self) -> bool {
        self.has_none || self.absent == Absent::Unknown
    }

    /// Returns the type without `Option`.
    fn inner_type(&self, layout: &Layout) -> TokenStream {
        let enumeration = self.field.enumeration.as_deref();
        match enumeration.and_then(|name| layout.enumeration(name)) {
            Some(item) => {
                let ident = format_ident!("{}", item.rust_name());
                quote!(#ident)
            }
            None => value_tokens(self.ty),
        }
    }

    fn rust_type(&self, layout: &Layout) -> TokenStream {
        let inner = self.inner_type(layout);
        if self.is_option() {
            quote!(Option<#inner>)
        } else {
            inner
        }
    }
}

impl<'a> Decoded<'a> {
    fn new(layout: &'a Layout, record: &'a Record) -> Self {
        let mut names: Vec<&str> = Vec::new();
        let fields = record.layouts.iter().flat_map(|layout| &layout.fields);
        for field in fields.filter(|field| field.value.is_none() && !is_padding(field)) {
            if !names.contains(&field.key()) {
                names.push(field.key());
            }
        }
        let mut records = layout.records.iter();
        let header = records.find(|other| other.file == record.file && is_header(other));
        let fields = names.into_iter().filter_map(|name| {
            let in_each = || {
                let layouts = record.layouts.iter();
                layouts.filter_map(|layout| layout.field_known_as(name))
            };
            let of_header = header.is_some_and(|header| {
                let mut layouts = header.layouts.iter();
                header.name != record.name
                    && layouts.all(|layout| layout.field_known_as(name).is_some())
            });
            let absent = if in_each().count() == layout.wires.len() {
                Absent::Never
            } else if of_header {
                Absent::OfHeader
            } else {
                Absent::Unknown
            };
            Some(Member {
                field: in_each().next()?,
                ty: in_each().map(|field| field.ty).max_by_key(|ty| ty.scalar)?,
                absent,
                has_none: in_each().any(|field| field.none.is_some()),
            })
        });
        Self {
            layout,
            record,
            fields: fields.collect(),
        }
    }

    fn ident(&self) -> Ident {
        format_ident!("{}", self.record.rust_name())
    }

    fn is_header(&self) -> bool {
        is_header(self.record)
    }

    fn tokens(&self) -> TokenStream {
        let ident = self.ident();
        let structure = self.structure(&ident);
        let conversions = self.conversions(&ident);
        let setters = (!has_magic(self.record)).then(|| self.setters(&ident));
        quote! {
            #structure
            #conversions
            #setters
        }
    }

    /// Emits setters, for records of events, which programs create themselves.
    fn setters(&self, ident: &Ident) -> TokenStream {
        let setters = self.fields.iter().map(|member| {
            let (name, ty) = (member.ident(), member.rust_type(self.layout));
            let doc = doc::attributes(&[format!("Sets `{name}`.")]);
            quote! {
                #doc
                #[must_use]
                pub fn #name(mut self, #name: #ty) -> Self {
                    self.#name = #name;
                    self
                }
            }
        });
        quote!(impl #ident { #(#setters)* })
    }

    fn structure(&self, ident: &Ident) -> TokenStream {
        let (name, file) = (&self.record.name, &self.record.file);
        let place = format!("`{name}` of `{file}`, decoded from any wire version.");
        let docs = doc::attributes(&[self.record.doc.clone(), place]);
        let wire = self.is_header().then(|| {
            quote! {
                /// The file's wire version.
                pub wire: Wire,
            }
        });
        let copy = (!self.is_header()).then(|| quote!(Copy,));
        let fields = self.fields.iter().map(|member| {
            let docs = doc::attributes(&self.documentation(member));
            let (name, ty) = (member.ident(), member.rust_type(self.layout));
            quote!(#docs pub #name: #ty)
        });
        quote! {
            #docs
            #[derive(Debug, Clone, #copy PartialEq, Eq)]
            #[non_exhaustive]
            pub struct #ident { #wire #(#fields),* }
        }
    }

    fn documentation(&self, member: &Member<'_>) -> Vec<String> {
        let mut first = member.field.doc.clone();
        if let Some(units) = member.field.units.as_deref().filter(|units| *units == "ns") {
            first.push_str(&format!(" In {units}."));
        }
        let mut paragraphs = vec![first];
        let key = member.field.key();
        let lacks = |layout: &&RecordLayout| layout.field_known_as(key).is_none();
        let lacking = self.record.layouts.iter().filter(lacks);
        let lacking: Vec<String> = lacking.map(|layout| layout.wire.to_string()).collect();
        let (versions, do_not) = match lacking.as_slice() {
            [version] => (format!("version {version}"), "does not"),
            versions => (format!("versions {}", versions.join(" and ")), "do not"),
        };
        match member.absent {
            Absent::Never => {}
            Absent::OfHeader => paragraphs.push(format!(
                "Wire {versions} {do_not} record it; the value comes from the header."
            )),
            Absent::Unknown => paragraphs.push(format!(
                "`None` in wire {versions}, which {do_not} record it."
            )),
        }
        paragraphs
    }

    fn conversions(&self, ident: &Ident) -> TokenStream {
        let wires = &self.layout.wires;
        let size = Literal::u32_unsuffixed(self.record.size);
        let given: Vec<_> = self
            .fields
            .iter()
            .filter(|member| member.absent == Absent::OfHeader)
            .map(|member| {
                let (name, ty) = (member.ident(), member.rust_type(self.layout));
                quote!(#name: #ty,)
            })
            .collect();
        let from = wires.iter().map(|&wire| self.decoding(wire));
        let to = wires.iter().map(|&wire| self.encoding(wire));
        let blank = self.fields.iter().map(|member| {
            let name = member.ident();
            let value = if member.is_option() {
                quote!(None)
            } else {
                self.zero(member)
            };
            quote!(#name: #value)
        });
        let (wire_argument, wire_field) = if self.is_header() {
            (Some(quote!(wire: Wire)), Some(quote!(wire,)))
        } else {
            (None, None)
        };
        let fits = self.check_fits();
        let constants = self.constants();
        let (parameter, chosen) = self.chosen_wire();
        quote! {
            impl #ident {
                /// The size in bytes, the same in every wire version.
                pub const SIZE: usize = #size;
                #constants

                /// Returns a record with every number 0 and every option `None`.
                #[must_use]
                pub(crate) const fn blank(#wire_argument) -> Self {
                    Self { #wire_field #(#blank),* }
                }

                /// Decodes a record. Any bytes are valid.
                #[must_use]
                #[inline]
                pub(crate) fn from_bytes(wire: Wire, #(#given)* bytes: &[u8; #size]) -> Self {
                    match wire { #(#from)* }
                }

                /// Encodes values that fit into the wire version; padding is 0.
                #[must_use]
                #[inline]
                pub(crate) fn bytes(&self #parameter) -> [u8; #size] {
                    match #chosen { #(#to)* }
                }

                #fits
            }
        }
    }

    /// Returns the parameter for the wire version to encode, if one is needed, and an expression
    /// for that version. A header contains its version, so it needs no parameter.
    fn chosen_wire(&self) -> (Option<TokenStream>, TokenStream) {
        if self.is_header() {
            (None, quote!(self.wire))
        } else {
            (Some(quote!(, wire: Wire)), quote!(wire))
        }
    }

    /// Emits each fixed value that is the same in every wire version, and each version's value that
    /// means "none".
    fn constants(&self) -> TokenStream {
        let layouts = &self.record.layouts;
        let in_each = |key: &str| -> Vec<&Field> {
            let fields = layouts.iter();
            fields.filter_map(|it| it.field_known_as(key)).collect()
        };
        let first = layouts.first().map_or(&[][..], |layout| &layout.fields);
        let constants = first.iter().map(|field| {
            let all = in_each(field.key());
            if all.len() < layouts.len() {
                return None;
            }
            let name = constant_ident(field.key());
            if field.value.is_some() && all.iter().all(|other| other.value == field.value) {
                let doc = format!("The value of `{}` in every wire version.", field.key());
                let docs = doc::attributes(&[doc]);
                let packed = self.packed(layouts.first()?.wire);
                let (ty, constant) = (value_tokens(field.ty), constant_ident(&field.name));
                return Some(quote!(#docs pub const #name: #ty = #packed::#constant;));
            }
            let nones: Option<Vec<u64>> = all.iter().map(|field| field.none).collect();
            let nones = nones?.into_iter().map(Literal::u64_unsuffixed);
            let key = field.key();
            let doc = format!("The value of `{key}` that means \"none\", by wire version.");
            let docs = doc::attributes(&[doc]);
            let name = format_ident!("{name}_NONE");
            let count = Literal::usize_unsuffixed(layouts.len());
            Some(quote!(#docs pub(crate) const #name: [u64; #count] = [#(#nones),*];))
        });
        let constants = constants.flatten();
        quote!(#(#constants)*)
    }

    /// Returns a zero value of the type without `Option`.
    fn zero(&self, member: &Member<'_>) -> TokenStream {
        match member.field.enumeration.as_deref() {
            Some(_) => {
                let ident = member.inner_type(self.layout);
                quote!(#ident(0))
            }
            None => zero(member.ty, false),
        }
    }

    /// Returns the path of the packed struct in a wire version.
    fn packed(&self, wire: Wire) -> TokenStream {
        let (module, ident) = (format_ident!("v{wire}"), self.ident());
        quote!(#module::#ident)
    }

    fn field_in(&self, wire: Wire, member: &Member<'_>) -> Option<&'a Field> {
        let layout = self.record.layout(wire)?;
        layout.field_known_as(member.field.key())
    }

    fn decoding(&self, wire: Wire) -> TokenStream {
        let (variant, packed) = (format_ident!("V{wire}"), self.packed(wire));
        let fields = self.fields.iter().map(|member| {
            let name = member.ident();
            let value = match self.field_in(wire, member) {
                Some(field) => self.decode(member, field, wire),
                None if member.absent == Absent::OfHeader => return quote!(#name),
                None => quote!(None),
            };
            quote!(#name: #value)
        });
        let wire_field = self.is_header().then(|| quote!(wire,));
        quote! {
            Wire::#variant => {
                let raw: #packed = zerocopy::transmute!(*bytes);
                Self { #wire_field #(#fields),* }
            }
        }
    }

    fn decode(&self, member: &Member<'_>, field: &Field, wire: Wire) -> TokenStream {
        let packed = self.packed(wire);
        let raw = format_ident!("{}", field.name);
        let number = match (field.ty.count, field.ty.scalar) {
            (_, Scalar::U8) => quote!(raw.#raw),
            (None, _) => quote!(raw.#raw.get()),
            (Some(_), _) => quote!(raw.#raw.map(|number| number.get())),
        };
        let value = if field.ty == member.ty && field.enumeration.is_none() {
            number.clone()
        } else {
            let inner = member.inner_type(self.layout);
            quote!(#inner::from(#number))
        };
        match field.none {
            Some(_) => {
                let none = format_ident!("{}_NONE", constant_ident(&field.name));
                quote!((#number != #packed::#none).then_some(#value))
            }
            None if member.is_option() => quote!(Some(#value)),
            None => value,
        }
    }

    fn encoding(&self, wire: Wire) -> TokenStream {
        let (variant, packed) = (format_ident!("V{wire}"), self.packed(wire));
        let layout = self.record.layout(wire).into_iter();
        let fields = layout.flat_map(|layout| &layout.fields).map(|field| {
            let name = format_ident!("{}", field.name);
            let value = self.encode(field, wire);
            quote!(#name: #value)
        });
        quote! {
            Wire::#variant => {
                let raw = #packed { #(#fields),* };
                zerocopy::transmute!(raw)
            }
        }
    }

    fn encode(&self, field: &Field, wire: Wire) -> TokenStream {
        let packed = self.packed(wire);
        if field.value.is_some() {
            let constant = constant_ident(&field.name);
            let value = quote!(#packed::#constant);
            return to_packed(field.ty, value);
        }
        let is_it = |member: &&Member<'_>| member.field.key() == field.key();
        let Some(member) = self.fields.iter().find(is_it) else {
            return zero(field.ty, true);
        };
        let name = member.ident();
        let widest = self.widest(member);
        let narrow = |value: TokenStream| {
            let value = match field.enumeration {
                Some(_) => {
                    let ty = scalar_ident(widest);
                    quote!(#ty::from(#value))
                }
                None => value,
            };
            if widest == field.ty.scalar {
                value
            } else {
                let ty = scalar_ident(field.ty.scalar);
                quote!(#ty::try_from(#value).unwrap_or(#ty::MAX))
            }
        };
        let value = match field.none {
            Some(_) => {
                let none = format_ident!("{}_NONE", constant_ident(&field.name));
                let value = narrow(quote!(value));
                if member.ty == field.ty {
                    quote!(self.#name.unwrap_or(#packed::#none))
                } else {
                    quote!(self.#name.map_or(#packed::#none, |value| #value))
                }
            }
            None if member.is_option() => {
                let zero = self.zero(member);
                narrow(quote!(self.#name.unwrap_or(#zero)))
            }
            None => narrow(quote!(self.#name)),
        };
        to_packed(field.ty, value)
    }

    /// Returns a scalar that can hold a field's value in every version. For an enumeration, this is
    /// the scalar of the newtype.
    fn widest(&self, member: &Member<'_>) -> Scalar {
        let enumeration = member.field.enumeration.as_deref();
        enumeration.map_or(member.ty.scalar, |name| self.layout.scalar_of(name))
    }
}

/// Returns whether a record is a file's header, which contains the wire version.
fn is_header(record: &Record) -> bool {
    has_field(record, "version")
}

/// Returns whether a record is a file's header or footer.
fn has_magic(record: &Record) -> bool {
    has_field(record, "magic")
}

fn has_field(record: &Record, key: &str) -> bool {
    let mut layouts = record.layouts.iter();
    layouts.any(|layout| layout.field_known_as(key).is_some())
}

/// Returns whether a field only fills space.
fn is_padding(field: &Field) -> bool {
    field.reserved && field.name.trim_start_matches('_').starts_with("reserved")
}

/// Converts a number to the little-endian type of the packed struct.
fn to_packed(ty: Type, value: TokenStream) -> TokenStream {
    match (ty.count, ty.scalar) {
        (_, Scalar::U8) => value,
        (None, Scalar::U16) => quote!(U16::new(#value)),
        (None, Scalar::U32) => quote!(U32::new(#value)),
        (None, Scalar::U64) => quote!(U64::new(#value)),
        (Some(_), _) => quote!(#value.map(Into::into)),
    }
}

/// Returns code for a zero value of the packed struct's type if `in_wire` is set, or of the decoded
/// type otherwise.
fn zero(ty: Type, in_wire: bool) -> TokenStream {
    let zero = match ty.scalar {
        _ if !in_wire => quote!(0),
        Scalar::U8 => quote!(0),
        Scalar::U16 => quote!(U16::ZERO),
        Scalar::U32 => quote!(U32::ZERO),
        Scalar::U64 => quote!(U64::ZERO),
    };
    match ty.count.map(Literal::u32_unsuffixed) {
        Some(count) => quote!([#zero; #count]),
        None => zero,
    }
}
